package storequeue_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/queue"
	"github.com/pawl-dev/pawl/steps/queue/storequeue"
)

// clock is moved by hand.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 3, 29, 0, 59, 59, 1000, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func mustOpen(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite",
		"file:"+file+"?_txlock=immediate&_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func mustNew(t *testing.T, db *sql.DB, name string, opts storequeue.Options) *storequeue.Queue {
	t.Helper()
	q, err := storequeue.New(t.Context(), db, name, opts)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// open returns a queue named "q" in a new database, and its clock.
func open(t *testing.T, opts storequeue.Options) (*storequeue.Queue, *clock) {
	t.Helper()
	c := newClock()
	opts.Clock = c.now
	return mustNew(t, mustOpen(t, filepath.Join(t.TempDir(), "q.db")), "q", opts), c
}

func message(id string) queue.Message {
	return queue.Message{ID: id, Type: "T", Group: "g", Body: json.RawMessage(`{"id":"` + id + `"}`)}
}

func mustSend(t *testing.T, q *storequeue.Queue, ids ...string) {
	t.Helper()
	batch := make([]queue.Message, len(ids))
	for i, id := range ids {
		batch[i] = message(id)
	}
	results, err := q.Send(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if !r.Accepted || r.Err != nil {
			t.Fatalf("Send of %q = %+v, want it accepted", ids[i], r)
		}
	}
}

func mustReceive(t *testing.T, q *storequeue.Queue, limit int, visibility time.Duration) []storequeue.Delivery {
	t.Helper()
	got, err := q.Receive(t.Context(), limit, visibility)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func mustDelete(t *testing.T, q *storequeue.Queue, receipt string) {
	t.Helper()
	if err := q.Delete(t.Context(), receipt); err != nil {
		t.Fatal(err)
	}
}

func mustLen(t *testing.T, q *storequeue.Queue) int {
	t.Helper()
	n, err := q.Len(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// brief is a list of "id*received".
func brief(list []storequeue.Delivery) string {
	var words []string
	for _, d := range list {
		words = append(words, fmt.Sprintf("%s*%d", d.ID, d.Received))
	}
	return strings.Join(words, " ")
}

func want(t *testing.T, what string, got []storequeue.Delivery, list string) {
	t.Helper()
	if brief(got) != list {
		t.Errorf("%s = %q, want %q", what, brief(got), list)
	}
}

func TestNewNeedsAName(t *testing.T) {
	t.Parallel()
	db := mustOpen(t, filepath.Join(t.TempDir(), "q.db"))
	if _, err := storequeue.New(t.Context(), db, "", storequeue.Options{}); err == nil {
		t.Error("New with an empty name succeeded, want an error")
	}
}

func TestMessageSurvives(t *testing.T) {
	t.Parallel()
	q, c := open(t, storequeue.Options{})
	const body = `{"id": 634866135153775564, "f": 1.10, "s": "<ё😀\u003c>", "n": null}`
	sent := queue.Message{ID: "e1", Type: "PullRequestMerged", Group: "org/repo#42", Body: json.RawMessage(body)}
	results, err := q.Send(t.Context(), []queue.Message{sent})
	if err != nil || len(results) != 1 || !results[0].Accepted || results[0].QueueID != "e1" {
		t.Fatalf("Send = %+v, %v, want one accepted", results, err)
	}
	sentAt := c.now()
	c.add(3 * time.Second)
	got := mustReceive(t, q, 10, time.Minute)
	if len(got) != 1 || got[0].Receipt == "" {
		t.Fatalf("Receive = %+v, want one with a receipt", got)
	}
	got[0].Receipt = ""
	wantDelivery := storequeue.Delivery{
		Message: sent, Received: 1, SentAt: sentAt, VisibleAt: c.now().Add(time.Minute),
	}
	if diff := cmp.Diff(wantDelivery, got[0]); diff != "" {
		t.Errorf("delivery (-want +got):\n%s", diff)
	}
}

func TestOddIDs(t *testing.T) {
	t.Parallel()
	q, _ := open(t, storequeue.Options{})
	ids := []string{
		"org/repo#42", "a%2Fb", "a/b", "x y", "..", "ё/😀", "-rf", "'; DROP", "a\nb", "a\x00b", "a\xffb",
		strings.Repeat("i", 2048), "é", "e\u0301",
	}
	for _, id := range ids {
		mustSend(t, q, id)
	}
	var got []string
	for _, d := range mustReceive(t, q, 100, time.Minute) {
		got = append(got, d.ID)
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

func TestSendRefusesAMessageWithoutID(t *testing.T) {
	t.Parallel()
	q, _ := open(t, storequeue.Options{})
	results, err := q.Send(t.Context(), []queue.Message{message("a"), message(""), message("b")})
	if err != nil || len(results) != 3 {
		t.Fatalf("Send = %+v, %v, want three results", results, err)
	}
	if !results[0].Accepted || !results[2].Accepted {
		t.Errorf("good messages = %+v, %+v, want them accepted", results[0], results[2])
	}
	if results[1].Accepted || !engine.VerdictOf(results[1].Err).Permanent {
		t.Errorf("message without id = %+v, want a permanent error", results[1])
	}
	if n := mustLen(t, q); n != 2 {
		t.Errorf("Len = %d, want 2", n)
	}
}

func TestSendKnowsTheIDs(t *testing.T) {
	t.Parallel()
	q, c := open(t, storequeue.Options{Dedup: 5 * time.Minute})
	mustSend(t, q, "a", "a")
	c.add(time.Hour)
	mustSend(t, q, "a") // there for long, and known all the same
	first := mustReceive(t, q, 10, time.Minute)
	want(t, "Receive", first, "a*1")
	mustDelete(t, q, first[0].Receipt)

	c.add(5*time.Minute - time.Microsecond)
	mustSend(t, q, "a")
	want(t, "Receive of an id still known", mustReceive(t, q, 10, time.Minute), "")

	c.add(time.Microsecond)
	mustSend(t, q, "a")
	want(t, "Receive of an id forgotten", mustReceive(t, q, 10, time.Minute), "a*1")
	if err := q.Delete(t.Context(), first[0].Receipt); err == nil {
		t.Error("Delete by a receipt of the first message succeeded on the second")
	}
}

func TestSendForgetsMoreThanItPurges(t *testing.T) {
	t.Parallel()
	q, c := open(t, storequeue.Options{})
	ids := make([]string, 130)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	mustSend(t, q, ids...)
	for _, d := range mustReceive(t, q, len(ids), time.Minute) {
		mustDelete(t, q, d.Receipt)
	}
	c.add(time.Hour)
	mustSend(t, q, ids...)
	if n := mustLen(t, q); n != len(ids) {
		t.Errorf("Len = %d, want %d", n, len(ids))
	}
}

func TestQueuesAreApart(t *testing.T) {
	t.Parallel()
	db := mustOpen(t, filepath.Join(t.TempDir(), "q.db"))
	a, b := mustNew(t, db, "a", storequeue.Options{}), mustNew(t, db, "b", storequeue.Options{})
	mustSend(t, a, "1", "2")
	mustSend(t, b, "1")
	got := mustReceive(t, b, 10, time.Minute)
	want(t, "Receive from b", got, "1*1")
	if err := a.Delete(t.Context(), got[0].Receipt); err == nil {
		t.Error("Delete of b's receipt from a succeeded")
	}
	mustDelete(t, b, got[0].Receipt)
	if n := mustLen(t, a); n != 2 {
		t.Errorf("Len of a = %d, want 2", n)
	}
	if a.Name() != "a" || a.Dead().Name() != "a-dead" || a.Dead().Dead().Name() != "a-dead" {
		t.Errorf("names = %q, %q, %q", a.Name(), a.Dead().Name(), a.Dead().Dead().Name())
	}
}

func TestReopenedQueueIsTheSame(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "q.db")
	first := mustOpen(t, file)
	mustSend(t, mustNew(t, first, "q", storequeue.Options{}), "a", "b")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, "Receive", mustReceive(t, mustNew(t, mustOpen(t, file), "q", storequeue.Options{}), 9, time.Minute), "a*1 b*1")
}

func TestPeekChangesNothing(t *testing.T) {
	t.Parallel()
	q, c := open(t, storequeue.Options{})
	mustSend(t, q, "a", "b", "c")
	want(t, "Receive", mustReceive(t, q, 1, time.Minute), "a*1")
	for range 2 {
		got, err := q.Peek(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "Peek", got, "b*0 c*0 a*1")
		if last := got[2]; last.Receipt != "" || !last.VisibleAt.Equal(c.now().Add(time.Minute)) {
			t.Errorf("Peek at a message in flight = %+v, want no receipt, and when it comes again", last)
		}
	}
	got, err := q.Peek(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "Peek at two", got, "b*0 c*0")
}

func TestErrorsOfTheDatabase(t *testing.T) {
	t.Parallel()
	db := mustOpen(t, filepath.Join(t.TempDir(), "q.db"))
	q := mustNew(t, db, "q", storequeue.Options{})
	mustSend(t, q, "a")
	receipt := mustReceive(t, q, 1, time.Minute)[0].Receipt
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	results, sendErr := q.Send(ctx, []queue.Message{message("b")})
	if results != nil {
		t.Errorf("Send = %+v, want no results", results)
	}
	_, receiveErr := q.Receive(ctx, 1, time.Minute)
	_, peekErr := q.Peek(ctx, 1)
	_, lenErr := q.Len(ctx)
	_, newErr := storequeue.New(ctx, db, "q", storequeue.Options{})
	for what, err := range map[string]error{
		`send to queue "q": `: sendErr, `receive from queue "q": `: receiveErr,
		`delete from queue "q": `: q.Delete(ctx, receipt), `peek into queue "q": `: peekErr,
		`count queue "q": `: lenErr, `create the table of queue "q": `: newErr,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), what) {
			t.Errorf("error = %v, want it to begin with %q", err, what)
		}
	}
}
