package storequeue_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/queue"
	"github.com/pawl-dev/pawl/steps/queue/storequeue"
)

func TestReceiveHidesForTheVisibilityTimeout(t *testing.T) {
	t.Parallel()
	q, c := open(t, storequeue.Options{})
	want(t, "Receive from an empty queue", mustReceive(t, q, 10, time.Minute), "")
	mustSend(t, q, "a", "b", "c")
	want(t, "first Receive", mustReceive(t, q, 2, time.Minute), "a*1 b*1")
	want(t, "second Receive", mustReceive(t, q, 2, 10*time.Second), "c*1")
	c.add(10*time.Second - time.Microsecond)
	want(t, "Receive before the timeout", mustReceive(t, q, 10, time.Minute), "")
	c.add(time.Microsecond)
	want(t, "Receive at the timeout of one", mustReceive(t, q, 10, time.Hour), "c*2")
	c.add(50 * time.Second)
	want(t, "Receive at the timeout of the others", mustReceive(t, q, 10, time.Hour), "a*2 b*2")
}

func TestReceiveRefusesBadArguments(t *testing.T) {
	t.Parallel()
	q, _ := open(t, storequeue.Options{})
	mustSend(t, q, "a")
	for _, tt := range []struct {
		limit      int
		visibility time.Duration
	}{{0, time.Minute}, {-1, time.Minute}, {1, 0}, {1, -time.Second}, {1, time.Nanosecond}} {
		if got, err := q.Receive(t.Context(), tt.limit, tt.visibility); err == nil {
			t.Errorf("Receive(%d, %s) = %v, want an error", tt.limit, tt.visibility, got)
		}
	}
}

func TestDeleteIsFenced(t *testing.T) {
	t.Parallel()
	q, c := open(t, storequeue.Options{})
	mustSend(t, q, "a")
	stale := mustReceive(t, q, 1, time.Second)[0]
	c.add(time.Second)
	fresh := mustReceive(t, q, 1, time.Second)[0]

	if err := q.Delete(t.Context(), stale.Receipt); !errors.Is(err, storequeue.ErrStaleReceipt) {
		t.Errorf("Delete by a stale receipt = %v, want ErrStaleReceipt", err)
	}
	if n := mustLen(t, q); n != 1 {
		t.Fatalf("Len after a stale Delete = %d, want 1", n)
	}
	c.add(time.Hour) // visible again, but nobody took it
	mustDelete(t, q, fresh.Receipt)
	mustDelete(t, q, fresh.Receipt) // a repeat, as after a lost answer
	if err := q.Delete(t.Context(), stale.Receipt); !errors.Is(err, storequeue.ErrStaleReceipt) {
		t.Errorf("Delete by a stale receipt of a deleted message = %v, want ErrStaleReceipt", err)
	}
	if n := mustLen(t, q); n != 0 {
		t.Errorf("Len = %d, want 0", n)
	}
	want(t, "Receive after Delete", mustReceive(t, q, 1, time.Second), "")
	for _, receipt := range []string{"", "x", "1", "1.", ".1", "1.x", "1.1.1", fresh.Receipt + " "} {
		if err := q.Delete(t.Context(), receipt); err == nil || errors.Is(err, storequeue.ErrStaleReceipt) {
			t.Errorf("Delete(%q) = %v, want an error that it is no receipt", receipt, err)
		}
	}
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		maxReceive int
		deliveries int // of a message that nobody deletes, in 8 tries
	}{
		{"DefaultIsFive", 0, 5},
		{"One", 1, 1},
		{"Three", 3, 3},
		{"NegativeIsOff", -1, 8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q, c := open(t, storequeue.Options{MaxReceive: tt.maxReceive})
			mustSend(t, q, "a")
			n := 0
			for range 8 {
				got := mustReceive(t, q, 1, time.Second)
				n += len(got)
				if len(got) == 1 && got[0].Received != n {
					t.Errorf("delivery %d counts %d", n, got[0].Received)
				}
				c.add(time.Second)
			}
			dead := 1
			if tt.maxReceive < 0 {
				dead = 0
			}
			if got := mustLen(t, q.Dead()); n != tt.deliveries || got != dead || mustLen(t, q) != 1-dead {
				t.Errorf("%d deliveries and %d dead letters, want %d and %d", n, got, tt.deliveries, dead)
			}
		})
	}
}

func TestPoisonDoesNotTakeTheLimit(t *testing.T) {
	t.Parallel()
	q, c := open(t, storequeue.Options{MaxReceive: 1})
	mustSend(t, q, "bad1", "bad2", "bad3")
	want(t, "Receive", mustReceive(t, q, 3, time.Second), "bad1*1 bad2*1 bad3*1")
	c.add(time.Second)
	mustSend(t, q, "good1", "good2", "good3")
	want(t, "Receive past the poison", mustReceive(t, q, 2, time.Second), "good1*1 good2*1")
	if n := mustLen(t, q.Dead()); n != 3 {
		t.Errorf("%d dead letters, want 3", n)
	}
}

func TestDeadLetterCanGoBackAndDieAgain(t *testing.T) {
	t.Parallel()
	q, c := open(t, storequeue.Options{MaxReceive: 1})
	dead := q.Dead()
	mustSend(t, q, "a")
	var late string
	for round := range 3 {
		last := mustReceive(t, q, 1, time.Second)
		want(t, fmt.Sprintf("round %d: Receive", round), last, "a*1")
		late = last[0].Receipt
		c.add(time.Second)
		want(t, "Receive of a dead letter", mustReceive(t, q, 1, time.Second), "")

		got := mustReceive(t, dead, 1, time.Second)
		want(t, "Receive from the dead letters", got, "a*1")
		if diff := cmp.Diff(message("a"), got[0].Message); diff != "" {
			t.Errorf("dead letter (-want +got):\n%s", diff)
		}
		mustSend(t, q, "a") // the redrive, at once
		mustDelete(t, dead, got[0].Receipt)
	}
	if err := q.Delete(t.Context(), late); !errors.Is(err, storequeue.ErrStaleReceipt) {
		t.Errorf("Delete of a message that died since = %v, want ErrStaleReceipt", err)
	}
	if q, dead := mustLen(t, q), mustLen(t, dead); q != 1 || dead != 0 {
		t.Errorf("Len = %d, dead letters %d, want 1 and 0", q, dead)
	}
}

func TestDeadLettersStay(t *testing.T) {
	t.Parallel()
	q, c := open(t, storequeue.Options{MaxReceive: 1})
	mustSend(t, q.Dead(), "a")
	for n := range 10 {
		want(t, "Receive", mustReceive(t, q.Dead(), 1, time.Second), fmt.Sprintf("a*%d", n+1))
		c.add(time.Second)
	}
	db := mustOpen(t, filepath.Join(t.TempDir(), "q.db"))
	byName := mustNew(t, db, "q-dead", storequeue.Options{Clock: c.now, MaxReceive: 1})
	mustSend(t, byName, "a")
	for n := range 3 {
		want(t, "Receive by name", mustReceive(t, byName, 1, time.Second), fmt.Sprintf("a*%d", n+1))
		c.add(time.Second)
	}
}

func TestPublishOnto(t *testing.T) {
	t.Parallel()
	q, _ := open(t, storequeue.Options{})
	publish := queue.Publish(q)
	calls := []engine.Call[queue.PublishInput]{
		{In: queue.PublishInput{MessageID: "e1", Type: "T", Group: "g", Body: []byte(`{"id":"e1"}`)}},
		{In: queue.PublishInput{MessageID: "e2", Type: "T", Group: "g", Body: []byte(`{"id":"e2"}`)}},
	}
	for attempt := range 2 {
		for i, r := range publish(t.Context(), calls) {
			if r.Err != nil || r.Out.MessageID != calls[i].In.MessageID {
				t.Errorf("attempt %d, message %d = %+v", attempt, i, r)
			}
		}
	}
	want(t, "Receive", mustReceive(t, q, 10, time.Minute), "e1*1 e2*1")
}

// ledger is what concurrent receivers have seen.
type ledger struct {
	mu         sync.Mutex
	deliveries map[string]int // by id and number of the delivery
	deleted    map[string]int // by id
}

func (l *ledger) add(count map[string]int, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	count[key]++
}

// TestNothingIsLost lets receivers over two connection pools take, drop and
// delete messages while the clock jumps over their timeouts. In the end each
// message was deleted once or is dead, and no delivery was made twice.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	const messages, senders, receivers = 80, 2, 4
	file := filepath.Join(t.TempDir(), "q.db")
	c := newClock()
	opts := storequeue.Options{Clock: c.now, MaxReceive: 4}
	queues := []*storequeue.Queue{
		mustNew(t, mustOpen(t, file), "q", opts), mustNew(t, mustOpen(t, file), "q", opts),
	}
	l := &ledger{deliveries: map[string]int{}, deleted: map[string]int{}}
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := s; i < messages; i += senders {
				if _, err := queues[s].Send(t.Context(), []queue.Message{message(fmt.Sprint(i))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for r := range receivers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(r)))
			for range 40 {
				l.receive(t, queues[r%2], rnd)
				c.add(time.Duration(rnd.IntN(1500)) * time.Millisecond)
			}
		})
	}
	wg.Wait()
	for range 100 { // what is left, by one more receiver
		c.add(time.Minute)
		got := mustReceive(t, queues[0], 50, time.Second)
		for _, d := range got {
			l.add(l.deliveries, fmt.Sprint(d.ID, "/", d.Received))
			mustDelete(t, queues[0], d.Receipt)
			l.add(l.deleted, d.ID)
		}
		if len(got) == 0 {
			break
		}
	}
	l.check(t, queues[0], messages)
}

// receive takes some messages and deletes about half of them.
func (l *ledger) receive(t *testing.T, q *storequeue.Queue, rnd *rand.Rand) {
	got, err := q.Receive(t.Context(), 1+rnd.IntN(5), time.Duration(1+rnd.IntN(3000))*time.Millisecond)
	if err != nil {
		t.Error(err)
	}
	for _, d := range got {
		l.add(l.deliveries, fmt.Sprint(d.ID, "/", d.Received))
		if rnd.IntN(2) == 0 {
			continue
		}
		switch err := q.Delete(t.Context(), d.Receipt); {
		case err == nil:
			l.add(l.deleted, d.ID)
		case !errors.Is(err, storequeue.ErrStaleReceipt):
			t.Error(err)
		}
	}
}

func (l *ledger) check(t *testing.T, q *storequeue.Queue, messages int) {
	t.Helper()
	for key, n := range l.deliveries {
		if n != 1 {
			t.Errorf("delivery %s was made %d times, want once", key, n)
		}
	}
	letters, err := q.Dead().Peek(t.Context(), messages)
	if err != nil {
		t.Fatal(err)
	}
	dead := map[string]bool{}
	for _, d := range letters {
		dead[d.ID] = true
	}
	for i := range messages {
		id := fmt.Sprint(i)
		switch ends := l.deleted[id]; {
		case ends == 0 && !dead[id]:
			t.Errorf("message %s was lost", id)
		case ends > 0 && dead[id], ends > 1:
			t.Errorf("message %s was deleted %d times, dead %v, want one end", id, ends, dead[id])
		}
		for n := 1; n <= 4 && l.deleted[id] == 0; n++ {
			if l.deliveries[fmt.Sprint(id, "/", n)] != 1 {
				t.Errorf("dead letter %s had no delivery %d", id, n)
			}
		}
	}
	if n := mustLen(t, q); n != 0 {
		t.Errorf("Len = %d, want 0", n)
	}
}
