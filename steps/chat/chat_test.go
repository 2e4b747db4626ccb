package chat_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/steps/chat"
)

// noon is in whole microseconds, as what is stored; the clock is not.
var noon = time.Date(2026, 3, 29, 12, 0, 0, 1000, time.UTC)

// world is an empty set of messages, with a clock that goes on by a second at
// every look.
type world struct {
	*chat.Messages
	db *sql.DB
}

func newWorld(t *testing.T) world {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "c.db")+
		"?_txlock=immediate&_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var looks atomic.Int64
	w := world{db: db}
	for range 2 { // the tables may be there
		w.Messages, err = chat.New(t.Context(), db, chat.Options{Clock: func() time.Time {
			return noon.Add(time.Duration(looks.Add(1))*time.Second + 999).In(time.FixedZone("", -5*3600))
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// rows returns the messages and the pushes.
func (w world) rows(t *testing.T) []string {
	t.Helper()
	rows, err := w.db.QueryContext(t.Context(), `
		SELECT key || ': ' || message_id || ' in ' || chat_id || ': ' || text || iif(retracted_at > 0, ' (retracted)', '') FROM chat_message
		UNION ALL
		SELECT key || ': push ' || message_id || ' to ' || recipient_id || ', ' || sound FROM chat_push`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// Each act is one call of a step or of the compensation. It returns the time
// in the output.
type act func(ctx context.Context, w world) (time.Time, error)

func storeText(key, id, text string) act {
	return func(ctx context.Context, w world) (time.Time, error) {
		out, err := w.Store(ctx, engine.Call[chat.StoreInput]{
			Key: key, In: chat.StoreInput{MessageID: id, ChatID: "c", Text: text},
		})
		return out.StoredAt, err
	}
}

func store(key, id string) act { return storeText(key, id, "hi ё😀") }

// retract undoes a step whose outcome is not known.
func retract(key, id string) act {
	return func(ctx context.Context, w world) (time.Time, error) {
		return time.Time{}, w.Retract(ctx, engine.Call[engine.Undone[chat.StoreInput, chat.StoreOutput]]{
			Key: key + "/undo",
			In: engine.Undone[chat.StoreInput, chat.StoreOutput]{
				In: chat.StoreInput{MessageID: id, ChatID: "c", Text: "hi ё😀"},
			},
		})
	}
}

func deliverSound(key, id, sound string) act {
	return func(ctx context.Context, w world) (time.Time, error) {
		out, err := w.Deliver(ctx, engine.Call[chat.DeliverInput]{
			Key: key, In: chat.DeliverInput{MessageID: id, RecipientID: "bob", Sound: sound},
		})
		return out.DeliveredAt, err
	}
}

func deliver(key, id string) act { return deliverSound(key, id, "none") }

func TestMessages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		acts []act
		want []string
	}{
		{"Store", []act{store("s", "m")}, []string{"s: m in c: hi ё😀"}},
		{"Deliver", []act{store("s", "m"), deliver("d", "m")}, []string{"d: push m to bob, none", "s: m in c: hi ё😀"}},
		{"Retract", []act{store("s", "m"), retract("s", "m")}, []string{"s: m in c:  (retracted)"}},
		{"RetractWhatNeverWas", []act{retract("s", "m")}, []string{"s: m in c:  (retracted)"}},
		{
			"StoreAgainByAnotherRun",
			[]act{store("s", "m"), retract("s", "m"), store("s2", "m"), deliver("d", "m"), retract("s", "m")},
			[]string{"d: push m to bob, none", "s2: m in c: hi ё😀", "s: m in c:  (retracted)"},
		},
		{
			"Two",
			[]act{store("s", "m"), store("s2", "n"), deliver("d", "n"), retract("s", "m")},
			[]string{"d: push n to bob, none", "s2: n in c: hi ё😀", "s: m in c:  (retracted)"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i, a := range tt.acts {
				first, err := a(t.Context(), w)
				if err != nil {
					t.Fatalf("act %d = %v", i+1, err)
				}
				again, err := a(t.Context(), w)
				if err != nil || again != first {
					t.Fatalf("repeat of act %d = %v, %v, want the first result %v", i+1, again, err, first)
				}
			}
			if diff := cmp.Diff(tt.want, w.rows(t)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTimesAreThoseOfTheFirstCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, a := range []act{store("s", "m"), deliver("d", "m"), store("s", "m"), deliver("d", "m")} {
		want := noon.Add(time.Duration(i%2+1) * time.Second)
		if got, err := a(t.Context(), w); err != nil || got != want {
			t.Errorf("act %d = %v, %v, want %v", i+1, got, err, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		before []act
		act    act
		text   string
	}{
		{"StoreRetracted", []act{store("s", "m"), retract("s", "m")}, store("s", "m"), `store message "m": the message was retracted`},
		{"StoreAfterRetract", []act{retract("s", "m")}, store("s", "m"), "the message was retracted"},
		{"StoreAnotherText", []act{store("s", "m")}, storeText("s", "m", "ho"), "with another input"},
		{"StoreTakenID", []act{store("s", "m")}, store("s2", "m"), `there is such a message, stored by "s"`},
		{"StoreWithoutKey", nil, store("", "m"), "the idempotency key is empty"},
		{"DeliverWithoutKey", []act{store("s", "m")}, deliver("", "m"), "the idempotency key is empty"},
		{"DeliverNothing", nil, deliver("d", "m"), `deliver message "m" to "bob": there is no such message`},
		{"DeliverRetracted", []act{store("s", "m"), retract("s", "m")}, deliver("d", "m"), "or it was retracted"},
		{"DeliverAnother", []act{store("s", "m"), deliver("d", "m")}, deliverSound("d", "m", "default"), "with another input"},
		{"RetractDelivered", []act{store("s", "m"), deliver("d", "m")}, retract("s", "m"), `retract message "m": the message was delivered`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i, a := range tt.before {
				if _, err := a(t.Context(), w); err != nil {
					t.Fatalf("act %d = %v", i+1, err)
				}
			}
			before := w.rows(t)
			for range 2 { // it stays refused
				at, err := tt.act(t.Context(), w)
				if err == nil || !strings.Contains(err.Error(), tt.text) || !at.IsZero() {
					t.Errorf("got %v, %v, want %q", at, err, tt.text)
				}
				if got, want := engine.VerdictOf(err), (engine.Verdict{Definite: true, Permanent: true}); got != want {
					t.Errorf("verdict = %+v, want %+v", got, want)
				}
			}
			if diff := cmp.Diff(before, w.rows(t)); diff != "" {
				t.Errorf("rows (-before +after):\n%s", diff)
			}
		})
	}
}

// Either the message is delivered or it is taken back, never both or neither.
func TestRetractRacesWithDeliver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var wg sync.WaitGroup
	const messages = 20
	var won [messages][2]bool
	for i := range messages {
		id := fmt.Sprint("m", i)
		if _, err := store("s"+id, id)(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		for side, a := range []act{deliver("d"+id, id), retract("s"+id, id)} {
			wg.Go(func() {
				_, err := a(t.Context(), w)
				won[i][side] = err == nil
			})
		}
	}
	wg.Wait()
	for i, side := range won {
		if side[0] == side[1] {
			t.Errorf("message %d: delivered %v, taken back %v", i, side[0], side[1])
		}
	}
}

// Whichever of the two comes first, the message is not there.
func TestRetractRacesWithALateStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var wg sync.WaitGroup
	for i := range 20 {
		id := fmt.Sprint("m", i)
		wg.Go(func() {
			if _, err := store("s"+id, id)(t.Context(), w); err != nil && !strings.Contains(err.Error(), "was retracted") {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if _, err := retract("s"+id, id)(t.Context(), w); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, row := range w.rows(t) {
		if !strings.HasSuffix(row, ":  (retracted)") {
			t.Errorf("%s is there", row)
		}
	}
}

func TestNothingHappensInABrokenDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, a := range []act{store("s", "m"), retract("s", "m"), deliver("d", "m")} {
		if _, err := a(t.Context(), w); !engine.VerdictOf(err).Definite || engine.VerdictOf(err).Permanent {
			t.Errorf("got %v, want a definite failure that may pass", err)
		}
	}
	if _, err := chat.New(t.Context(), w.db, chat.Options{}); err == nil {
		t.Error("New on a closed database succeeded")
	}
}

func TestFailuresInATransaction(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, breaks string
		want         engine.Verdict
	}{
		{"BeforeTheCommit", `ALTER TABLE chat_message RENAME TO gone`, engine.Verdict{Definite: true}},
		{"InTheCommit", `
			PRAGMA foreign_keys = ON;
			CREATE TABLE parent (id INTEGER PRIMARY KEY);
			CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
			CREATE TRIGGER orphan AFTER INSERT ON chat_message BEGIN INSERT INTO child VALUES (1); END`, engine.Verdict{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.db.SetMaxOpenConns(1)
			if _, err := w.db.ExecContext(t.Context(), tt.breaks); err != nil {
				t.Fatal(err)
			}
			_, err := store("s", "m")(t.Context(), w)
			if got := engine.VerdictOf(err); err == nil || got != tt.want {
				t.Errorf("store = %v with the verdict %+v, want %+v", err, got, tt.want)
			}
		})
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	var reg engine.Registry
	chat.Register(&reg, &chat.Messages{})
	fields := func(kind definition.TypeKind, names ...string) []definition.Field {
		list := []definition.Field{}
		for _, name := range names {
			list = append(list, definition.Field{Name: name, Type: definition.Type{Kind: kind}})
		}
		return list
	}
	store := definition.HandlerInfo{
		Input:  fields(definition.String, "message_id", "chat_id", "text"),
		Output: fields(definition.Timestamp, "stored_at"),
	}
	retract := store
	retract.Compensates = "messages.store"
	want := definition.Manifest{
		"messages.store":   store,
		"messages.retract": retract,
		"push.deliver": {
			Input:  fields(definition.String, "message_id", "recipient_id", "sound"),
			Output: fields(definition.Timestamp, "delivered_at"),
		},
	}
	if diff := cmp.Diff(want, reg.Manifest()); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}
