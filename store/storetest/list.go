package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

func listClauses() []clause {
	return []clause{
		{"List/EveryRowOnceWhileRowsMove", listMoving},
		{"List/NewestFirst", listOrder},
		{"List/EqualStartsAreOnceEach", listEqual},
		{"List/LeavesPayloadsOut", listHead},
		{"List/Filters", listFilters},
		{"List/LabelsMatchAll", listLabels},
		{"List/FiltersAcrossPages", listFilteredPages},
		{"List/DefaultIs50", listDefault},
		{"List/WrongRequestIsErrInvalid", listInvalid},
		{"List/EmptyStore", listEmpty},
	}
}

// walk lists all pages and calls between after each of them.
func walk(t *testing.T, s engine.Store, f engine.Filter, between func(page int)) []engine.Instance {
	t.Helper()
	var all []engine.Instance
	for page := range 100 { // bounded
		p, err := s.List(t.Context(), f)
		if err != nil {
			t.Fatalf("List, page %d: %v", page, err)
		}
		if f.Limit > 0 && len(p.Instances) > f.Limit {
			t.Fatalf("page %d has %d instances, want at most %d", page, len(p.Instances), f.Limit)
		}
		all = append(all, p.Instances...)
		if p.Next == "" {
			return all
		}
		if len(p.Instances) == 0 {
			t.Fatalf("page %d is empty, but not the last", page)
		}
		f.After = p.Next
		if between != nil {
			between(page)
		}
	}
	t.Fatal("the list has no end")
	return nil
}

func mustList(t *testing.T, s engine.Store, f engine.Filter) []string {
	t.Helper()
	return ids(walk(t, s, f, nil))
}

func listMoving(t *testing.T, s engine.Store) {
	var all []engine.New
	for i := range 1000 {
		all = append(all, job(fmt.Sprintf("x%04d", i), func(in *engine.Instance) {
			in.StartedAt = start.Add(time.Duration(i/7) * time.Millisecond) // many at the same time
		}))
	}
	mustCreate(t, s, all...)
	seen := map[string]int{}
	for _, in := range walk(t, s, engine.Filter{Limit: 70}, func(page int) {
		var tr []engine.Transition
		for i := page; i < 1000; i += 40 {
			in := mustLoad(t, s, fmt.Sprintf("x%04d", i))
			if in.Status == engine.Running {
				tr = append(tr, finish(in))
			}
		}
		mustCommit(t, s, tr...)
		mustCreate(t, s, job(fmt.Sprint("newer", page), func(in *engine.Instance) { in.StartedAt = start.Add(time.Hour) }),
			job(fmt.Sprint("older", page), func(in *engine.Instance) { in.StartedAt = start.Add(-time.Hour) }))
	}) {
		seen[in.ID]++
	}
	for _, n := range all {
		if seen[n.Instance.ID] != 1 {
			t.Errorf("%s was seen %d times, want once", n.Instance.ID, seen[n.Instance.ID])
		}
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s was seen %d times", id, n)
		}
	}
}

func listOrder(t *testing.T, s engine.Store) {
	for _, i := range []int{3, 1, 4, 0, 2} {
		mustCreate(t, s, job(fmt.Sprint("x", i), func(in *engine.Instance) {
			in.StartedAt = start.Add(time.Duration(i) * time.Microsecond)
		}))
	}
	for _, limit := range []int{1, 2, 5, 6} {
		got := mustList(t, s, engine.Filter{Limit: limit})
		if want := []string{"x4", "x3", "x2", "x1", "x0"}; !cmp.Equal(got, want) {
			t.Errorf("List by %d = %q, want %q", limit, got, want)
		}
	}
}

func listEqual(t *testing.T, s engine.Store) {
	for i := range 10 {
		mustCreate(t, s, job(fmt.Sprint("x", i)))
	}
	whole := mustList(t, s, engine.Filter{Limit: 100})
	if got := mustList(t, s, engine.Filter{Limit: 3}); len(got) != 10 || !cmp.Equal(got, whole) {
		t.Errorf("List by 3 = %q, want the order of the whole list, %q", got, whole)
	}
}

func listHead(t *testing.T, s engine.Store) {
	want := full()
	mustCreate(t, s, engine.New{Instance: want})
	want.Input, want.With, want.Data, want.Output = nil, nil, nil, nil
	page, err := s.List(t.Context(), engine.Filter{})
	if err != nil || len(page.Instances) != 1 {
		t.Fatalf("List = %+v, %v, want one instance", page, err)
	}
	wantSame(t, "the listed instance", page.Instances[0], want)
}

func listFilters(t *testing.T, s engine.Store) {
	mustCreate(t, s,
		keyed("k1"), keyed("k2", func(in *engine.Instance) { in.State = "b" }),
		keyed("k1", func(in *engine.Instance) { in.Workflow, in.ID = "other", "other/k1" }),
		job("plain", func(in *engine.Instance) { in.Status, in.State = engine.Parked, "b" }))
	for _, tt := range []struct {
		name string
		f    engine.Filter
		want int
	}{
		{"all", engine.Filter{}, 4},
		{"workflow", engine.Filter{Workflow: "flow"}, 3},
		{"state", engine.Filter{State: "b"}, 2},
		{"status", engine.Filter{Status: engine.Parked}, 1},
		{"key", engine.Filter{Key: "k1"}, 2},
		{"key of workflow", engine.Filter{Workflow: "other", Key: "k1"}, 1},
		{"state and status", engine.Filter{State: "b", Status: engine.Running}, 1},
		{"state, status and key", engine.Filter{State: "b", Status: engine.Running, Key: "k2"}, 1},
		{"definition", engine.Filter{DefHash: "hash", Status: engine.Parked}, 1},
		{"no such definition", engine.Filter{DefHash: "hash2"}, 0},
		{"nothing", engine.Filter{Workflow: "flo_"}, 0},
		{"no pattern", engine.Filter{Key: "%"}, 0},
	} {
		if got := mustList(t, s, tt.f); len(got) != tt.want {
			t.Errorf("List by %s = %q, want %d", tt.name, got, tt.want)
		}
	}
}

func listLabels(t *testing.T, s engine.Store) {
	labelled := func(id string, labels map[string]string) engine.New {
		return job(id, func(in *engine.Instance) { in.Labels = labels })
	}
	odd := map[string]string{}
	for i, text := range oddTexts() {
		odd[text] = oddTexts()[len(oddTexts())-1-i]
	}
	mustCreate(t, s, labelled("1", map[string]string{"repo": "a", "env": "prod"}),
		labelled("2", map[string]string{"repo": "b", "env": "prod"}), labelled("3", odd), job("4"))
	for _, tt := range []struct {
		labels map[string]string
		want   []string
	}{
		{map[string]string{"env": "prod"}, []string{"2", "1"}},
		{map[string]string{"env": "prod", "repo": "a"}, []string{"1"}},
		{map[string]string{"env": "prod", "repo": "c"}, nil},
		{map[string]string{"repo": "prod"}, nil},
		{odd, []string{"3"}},
	} {
		got := map[string]bool{}
		for _, id := range mustList(t, s, engine.Filter{Labels: tt.labels}) {
			got[id] = true
		}
		want := map[string]bool{}
		for _, id := range tt.want {
			want[id] = true
		}
		if !cmp.Equal(got, want) {
			t.Errorf("List by %q = %v, want %q", tt.labels, got, tt.want)
		}
	}
}

func listFilteredPages(t *testing.T, s engine.Store) {
	var all []engine.New
	for i := range 30 {
		all = append(all, job(fmt.Sprint("x", i), func(in *engine.Instance) {
			in.State = []string{"a", "b", "c"}[i%3]
			in.StartedAt = start.Add(time.Duration(i) * time.Second)
		}))
	}
	mustCreate(t, s, all...)
	for _, f := range []engine.Filter{{State: "b", Limit: 3}, {State: "b", Status: engine.Running, Limit: 4}} {
		got := mustList(t, s, f)
		if len(got) != 10 || got[0] != "x28" || got[9] != "x1" {
			t.Errorf("List of state b by %d = %q, want ten from x28 to x1", f.Limit, got)
		}
	}
}

func listDefault(t *testing.T, s engine.Store) {
	var all []engine.New
	for i := range 51 {
		all = append(all, job(fmt.Sprint("x", i)))
	}
	mustCreate(t, s, all...)
	page, err := s.List(t.Context(), engine.Filter{})
	if err != nil || len(page.Instances) != 50 || page.Next == "" {
		t.Errorf("List = %d instances, next %q, %v, want 50 and another page", len(page.Instances), page.Next, err)
	}
	page, err = s.List(t.Context(), engine.Filter{Limit: 51})
	if err != nil || len(page.Instances) != 51 || page.Next != "" {
		t.Errorf("List of 51 = %d instances, next %q, %v, want all and no other page", len(page.Instances), page.Next, err)
	}
}

func listInvalid(t *testing.T, s engine.Store) {
	mustCreate(t, s, job("x"))
	for _, f := range []engine.Filter{{Limit: -1}, {Limit: 1001}, {After: "?"}, {After: "x"}, {After: "MSAxIDE5IDE"}} {
		if _, err := s.List(t.Context(), f); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("List(%+v) = %v, want ErrInvalid", f, err)
		}
	}
}

func listEmpty(t *testing.T, s engine.Store) {
	page, err := s.List(t.Context(), engine.Filter{})
	if err != nil || len(page.Instances) != 0 || page.Next != "" {
		t.Errorf("List = %+v, %v, want an empty page", page, err)
	}
}
