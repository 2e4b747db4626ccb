package storetest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

func valueClauses() []clause {
	return []clause{
		{"Value/OddIDsAreDifferentAndComeBack", valueIDs},
		{"Value/OddKeysAreDifferentAndComeBack", valueKeys},
		{"Value/LongIDsAndTexts", valueLong},
		{"Value/64KiBPayloads", valueBig},
		{"Value/PayloadsKeepTheirBytes", valueBytes},
		{"Value/TimesOfAnyZoneComeBackInUTC", valueZones},
		{"Value/DueTimesOfAnyZoneHaveOneOrder", valueZonesDue},
		{"Value/TimesAreExactToTheMicrosecond", valueMicro},
	}
}

// oddTexts are texts that were mixed up or refused by somebody.
func oddTexts() []string {
	return []string{
		"org/repo#42", "a%2Fb", "a/b", "x y", "x  y", " x", "x ", "..", ".", "ё/😀", "-rf", "'; DROP TABLE instance; --",
		`"quoted"`, `back\slash`, "$", "$.a", "a.b", "[0]", "A", "a", "é", "e\u0301", "%", "_", "?1", ":id", "@x",
		"a~b", "a~~b", "~2", "1", "01", "1.0", "1e3", "null", "NULL", "true", "0x10", "İ", "ı", "i",
	}
}

func valueIDs(t *testing.T, s engine.Store) {
	for i, id := range oddTexts() {
		mustCreate(t, s, job(id, func(in *engine.Instance) { in.Note = fmt.Sprint(i) }))
	}
	for i, id := range oddTexts() {
		in := mustLoad(t, s, id)
		if in.ID != id || in.Note != fmt.Sprint(i) {
			t.Errorf("Load(%q) = %q with note %s, want note %d", id, in.ID, in.Note, i)
		}
		mustDo(t, s, engine.Done, move(in, "b"))
		if lines := mustHistory(t, s, id); len(lines) != 1 {
			t.Errorf("History(%q) = %d lines, want 1", id, len(lines))
		}
	}
	if got := mustList(t, s, engine.Filter{Limit: 7}); len(got) != len(oddTexts()) {
		t.Errorf("List = %d instances, want %d", len(got), len(oddTexts()))
	}
}

func valueKeys(t *testing.T, s engine.Store) {
	for _, key := range oddTexts() {
		mustCreate(t, s, keyed(key))
	}
	for _, key := range oddTexts() {
		if got := mustInsert(t, s, keyed(key))[0]; got.Created || got.Instance.Key != key {
			t.Errorf("the second start of key %q = %+v, want the first one", key, got)
		}
		want := []string{engine.InstanceID("flow", key, 1)}
		if got := mustList(t, s, engine.Filter{Key: key}); !cmp.Equal(got, want) {
			t.Errorf("List by key %q = %q, want %q", key, got, want)
		}
	}
}

func valueLong(t *testing.T, s engine.Store) {
	id := strings.Repeat("ü", engine.MaxID/2)
	key := strings.Repeat("k", engine.MaxKey)
	n := job(id, func(in *engine.Instance) {
		in.Key, in.Run = key, 1
		in.Message = strings.Repeat("m", engine.MaxMessage)
	})
	mustCreate(t, s, n, job(id[:len(id)-2]))
	in := mustLoad(t, s, id)
	if in.Key != key || len(in.Message) != engine.MaxMessage {
		t.Errorf("the key has %d and the message %d bytes, want %d and %d",
			len(in.Key), len(in.Message), engine.MaxKey, engine.MaxMessage)
	}
}

func valueBig(t *testing.T, s engine.Store) {
	big := func(c byte) []byte { return fmt.Appendf(nil, `{"x":%q}`, bytes.Repeat([]byte{c}, engine.MaxPayload-8)) }
	n := job("x")
	n.Instance.Input, n.Instance.With = big('i'), big('w')
	mustCreate(t, s, n, job("y"))
	want := mustClaim(t, s, claimAt(start, "w", "do.a"))[0]
	if len(want.Input) != engine.MaxPayload || !bytes.Equal(want.Input, big('i')) {
		t.Fatalf("the input has %d bytes, want the %d that were stored", len(want.Input), engine.MaxPayload)
	}
	tr := finish(want)
	tr.Instance.Data, tr.Instance.Output = big('d'), big('o')
	want = tr.Instance
	want.Version = mustDo(t, s, engine.Done, tr).Version
	wantSame(t, "the row with big payloads", mustLoad(t, s, "x"), want)
}

func valueBytes(t *testing.T, s engine.Store) {
	payload := []byte("{ \"id\" : 634866135153775564,\n\t\"b\":1.50, \"a\":1e0, \"b\":\"\\u00e9é\", \"z\":null }")
	n := job("x")
	n.Instance.Input, n.Instance.Data = payload, payload
	mustCreate(t, s, n)
	in := mustLoad(t, s, "x")
	if !bytes.Equal(in.Input, payload) || !bytes.Equal(in.Data, payload) {
		t.Errorf("payloads = %q and %q, want %q", in.Input, in.Data, payload)
	}
}

// zones are three places that do not agree on the time.
func zones() []*time.Location {
	return []*time.Location{time.UTC, time.FixedZone("west", -5*3600), time.FixedZone("east", 5*3600+1800)}
}

func valueZones(t *testing.T, s engine.Store) {
	for _, zone := range zones() {
		want := full()
		want.Key, want.Run, want.ID = "", 0, "in "+zone.String()
		local := want
		for _, at := range []*time.Time{
			&local.DueAt, &local.StartedAt, &local.EnteredAt, &local.UpdatedAt,
			&local.EndedAt, &local.DeadlineAt, &local.ExpireAt,
		} {
			*at = at.In(zone)
		}
		mustCreate(t, s, engine.New{Instance: local})
		in := mustLoad(t, s, want.ID)
		wantSame(t, "the row", in, want)
		if in.DueAt.Location() != time.UTC {
			t.Errorf("DueAt is in %s, want UTC", in.DueAt.Location())
		}
	}
}

func valueZonesDue(t *testing.T, s engine.Store) {
	for i, zone := range zones() {
		mustCreate(t, s, job(fmt.Sprint("x", i), dueAt(start.Add(time.Duration(i)*time.Second).In(zone))))
	}
	for i := range zones() {
		now := start.Add(time.Duration(i) * time.Second)
		for _, zone := range zones() {
			wantIDs(t, "Claim early", mustClaim(t, s, claimAt(now.Add(-time.Microsecond).In(zone), "w", "do.a")))
		}
		got := mustClaim(t, s, claimAt(now.In(zones()[(i+1)%3]), "w", "do.a"))
		wantIDs(t, "Claim", got, fmt.Sprint("x", i))
		if until := now.Add(leaseTime); len(got) == 1 && got[0].LeaseUntil != until {
			t.Errorf("LeaseUntil = %s, want %s", got[0].LeaseUntil, until)
		}
	}
}

func valueMicro(t *testing.T, s engine.Store) {
	for i := range 3 {
		at := start.Add(time.Duration(i) * time.Microsecond)
		mustCreate(t, s, job(fmt.Sprint("x", i), dueAt(at.Add(999*time.Nanosecond))))
		if in := mustLoad(t, s, fmt.Sprint("x", i)); !in.DueAt.Equal(at) {
			t.Errorf("DueAt = %s, want %s", in.DueAt, at)
		}
	}
	far := time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
	mustCreate(t, s, job("far", dueAt(far)))
	if in := mustLoad(t, s, "far"); !in.DueAt.Equal(far) {
		t.Errorf("DueAt = %s, want %s", in.DueAt, far)
	}
}
