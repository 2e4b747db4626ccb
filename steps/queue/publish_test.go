package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/steps/queue"
)

// scripted is a queue that answers as the test says and keeps what it got.
type scripted struct {
	got  []queue.Message
	send func(ctx context.Context, batch []queue.Message) ([]queue.Result, error)
}

func (s *scripted) Send(ctx context.Context, batch []queue.Message) ([]queue.Result, error) {
	s.got = append(s.got, batch...)
	return s.send(ctx, batch)
}

func answer(results []queue.Result, err error) *scripted {
	return &scripted{send: func(context.Context, []queue.Message) ([]queue.Result, error) {
		return results, err
	}}
}

func call(id string) engine.Call[queue.PublishInput] {
	return engine.Call[queue.PublishInput]{In: queue.PublishInput{
		MessageID: id, Type: "Merged", Group: "org/repo#42", Body: json.RawMessage(`{"pr":1}`),
	}}
}

// outcomes is what a batch came to, in a form that cmp can compare.
type outcome struct {
	Receipt queue.Receipt
	Err     string
	Verdict engine.Verdict
}

func outcomes(results []engine.Result[queue.Receipt]) []outcome {
	list := make([]outcome, len(results))
	for i, r := range results {
		list[i] = outcome{Receipt: r.Out, Verdict: engine.VerdictOf(r.Err)}
		if r.Err != nil {
			list[i].Err = r.Err.Error()
		}
	}
	return list
}

func TestPublishOutcomes(t *testing.T) {
	t.Parallel()
	var (
		down    = engine.Verdict{Definite: true, TargetDown: true}
		unknown = engine.Verdict{}
		refused = errors.New("refused")
		ok      = queue.Result{Accepted: true, QueueID: "q1"}
		sentA   = outcome{Receipt: queue.Receipt{MessageID: "a", QueueID: "q1"}}
	)
	tests := []struct {
		name    string
		results []queue.Result
		err     error
		want    []outcome // of the messages a and b
	}{
		{
			"AllAccepted",
			[]queue.Result{ok, {Accepted: true}},
			nil,
			[]outcome{sentA, {Receipt: queue.Receipt{MessageID: "b"}}},
		},
		{
			"MissingResultIsUnknown",
			[]queue.Result{ok},
			nil,
			[]outcome{sentA, {Err: `publish message "b": the queue gave no answer for this message`, Verdict: unknown}},
		},
		{
			"ZeroResultIsUnknown",
			[]queue.Result{{}, {}},
			nil,
			[]outcome{
				{Err: `publish message "a": the queue gave no answer for this message`, Verdict: unknown},
				{Err: `publish message "b": the queue gave no answer for this message`, Verdict: unknown},
			},
		},
		{
			"NoResultsAtAllIsUnknown",
			nil,
			nil,
			[]outcome{
				{Err: `publish message "a": the queue gave no answer for this message`, Verdict: unknown},
				{Err: `publish message "b": the queue gave no answer for this message`, Verdict: unknown},
			},
		},
		{
			"VerdictOfOneMessageIsItsOwn",
			[]queue.Result{ok, {Err: engine.Permanent(refused)}},
			nil,
			[]outcome{sentA, {
				Err:     `publish message "b": refused`,
				Verdict: engine.Verdict{Definite: true, Permanent: true},
			}},
		},
		{
			"RetryAfterSurvives",
			[]queue.Result{ok, {Err: engine.RetryAfter(engine.Definite(refused), time.Minute)}},
			nil,
			[]outcome{sentA, {
				Err:     `publish message "b": refused`,
				Verdict: engine.Verdict{Definite: true, After: time.Minute},
			}},
		},
		{
			"AcceptedWithErrorIsNotSent",
			[]queue.Result{{Accepted: true, Err: refused}, ok},
			nil,
			[]outcome{
				{Err: `publish message "a": refused`, Verdict: unknown},
				{Receipt: queue.Receipt{MessageID: "b", QueueID: "q1"}},
			},
		},
		{
			"WholeTargetDown",
			nil,
			refused,
			[]outcome{
				{Err: `publish message "a": refused`, Verdict: down},
				{Err: `publish message "b": refused`, Verdict: down},
			},
		},
		{
			"AcceptedBeforeTheOutageIsSent",
			[]queue.Result{ok, {}},
			refused,
			[]outcome{sentA, {Err: `publish message "b": refused`, Verdict: down}},
		},
		{
			"MoreResultsThanMessages",
			[]queue.Result{ok, {Accepted: true}, ok},
			nil,
			[]outcome{sentA, {Receipt: queue.Receipt{MessageID: "b"}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			publish := queue.Publish(answer(tt.results, tt.err))
			got := outcomes(publish(t.Context(), []engine.Call[queue.PublishInput]{call("a"), call("b")}))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Publish outcomes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPublishHandsOnTheMessage(t *testing.T) {
	t.Parallel()
	q := answer([]queue.Result{{Accepted: true}}, nil)
	queue.Publish(q)(t.Context(), []engine.Call[queue.PublishInput]{call("a")})
	want := []queue.Message{{
		ID: "a", Type: "Merged", Group: "org/repo#42", Body: json.RawMessage(`{"pr":1}`),
	}}
	if diff := cmp.Diff(want, q.got); diff != "" {
		t.Errorf("message sent (-want +got):\n%s", diff)
	}
}

func TestPublishSilentQueueIsDown(t *testing.T) {
	t.Parallel()
	hung := &scripted{send: func(ctx context.Context, _ []queue.Message) ([]queue.Result, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	for i, r := range queue.Publish(hung)(ctx, []engine.Call[queue.PublishInput]{call("a"), call("b")}) {
		if !engine.VerdictOf(r.Err).TargetDown || !errors.Is(r.Err, context.DeadlineExceeded) {
			t.Errorf("result %d = %v, want a deadline as target down", i, r.Err)
		}
	}
}

func TestPublishRefusesBadMessagesAlone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   queue.PublishInput
		want string
	}{
		{"NoID", queue.PublishInput{Body: json.RawMessage(`{}`)}, "publish: message_id is empty"},
		{"NoBody", queue.PublishInput{MessageID: "x"}, `publish message "x": the body is not a JSON value`},
		{
			"BrokenBody",
			queue.PublishInput{MessageID: "x", Body: json.RawMessage(`{"a"`)},
			`publish message "x": the body is not a JSON value`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := answer([]queue.Result{{Accepted: true}, {Accepted: true}}, nil)
			got := outcomes(queue.Publish(q)(t.Context(),
				[]engine.Call[queue.PublishInput]{call("a"), {In: tt.in}, call("b")}))
			want := []outcome{
				{Receipt: queue.Receipt{MessageID: "a"}},
				{Err: tt.want, Verdict: engine.Verdict{Definite: true, Permanent: true}},
				{Receipt: queue.Receipt{MessageID: "b"}},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Publish outcomes (-want +got):\n%s", diff)
			}
			if len(q.got) != 2 {
				t.Errorf("%d messages sent, want 2", len(q.got))
			}
		})
	}
}

func TestPublishSendsNothingIfNothingIsGood(t *testing.T) {
	t.Parallel()
	q := &scripted{send: func(context.Context, []queue.Message) ([]queue.Result, error) {
		return nil, errors.New("called")
	}}
	got := queue.Publish(q)(t.Context(), []engine.Call[queue.PublishInput]{{}})
	if len(got) != 1 || !engine.VerdictOf(got[0].Err).Permanent || q.got != nil {
		t.Errorf("Publish = %v, sent %v, want one permanent error and nothing sent", got, q.got)
	}
}

// TestInputKeepsTheBytesOfTheBody decodes as the engine does.
func TestInputKeepsTheBytesOfTheBody(t *testing.T) {
	t.Parallel()
	const body = `{"id": 634866135153775564, "f": 1.10, "s": "<ё😀\u003c>", "n": null}`
	var in queue.PublishInput
	if err := json.Unmarshal([]byte(`{"message_id":"a","type":"T","body":`+body+`}`), &in); err != nil {
		t.Fatal(err)
	}
	q := answer([]queue.Result{{Accepted: true}}, nil)
	queue.Publish(q)(t.Context(), []engine.Call[queue.PublishInput]{{In: in}})
	if got := string(q.got[0].Body); got != body {
		t.Errorf("body = %s, want %s", got, body)
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	var reg engine.Registry
	queue.Register(&reg, answer(nil, nil))
	info, ok := reg.Manifest()[queue.Step]
	if !ok || !info.Batch || info.NotIdempotent {
		t.Fatalf("manifest of %s = %+v, %v, want an idempotent batch handler", queue.Step, info, ok)
	}
	var names []string
	for _, f := range info.Input {
		names = append(names, f.Name)
		if optional := f.Name == "group"; f.Type.Optional != optional {
			t.Errorf("input %s optional = %v, want %v", f.Name, f.Type.Optional, optional)
		}
		if f.Name == "body" && f.Type.Kind != definition.Any {
			t.Errorf("kind of body = %v, want any", f.Type.Kind)
		}
	}
	if diff := cmp.Diff([]string{"message_id", "type", "group", "body"}, names); diff != "" {
		t.Errorf("input fields (-want +got):\n%s", diff)
	}
}
