package definition

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sketch makes a workflow of lines like
//
//	A* = B C ! D | E
//
// where A leads to B and C after success, to D by catch: and to E by its own
// on_failure:. The first line is the start. A star makes it irreversible; a
// name in small letters is a wait, or an await if it ends in a question mark;
// a line without "=" is an end. FAILED, which need not be there, is where
// on_failure: of the workflow leads.
func sketch(t *testing.T, text string) *Definition {
	t.Helper()
	d := &Definition{index: map[string]*State{}}
	for line := range strings.Lines(text) {
		head, rest, leads := strings.Cut(strings.TrimSpace(line), " = ")
		s := &State{Name: strings.Trim(head, "*?"), Kind: StepState}
		switch {
		case head == "":
			continue
		case !leads:
			s.Kind = EndState
		case strings.HasSuffix(head, "?"):
			s.Kind = AwaitState
		case head == strings.ToLower(head):
			s.Kind = WaitState
		case strings.HasSuffix(head, "*"):
			s.Irreversible = true
		}
		rest, s.OnFailure.To, _ = strings.Cut(rest, " | ")
		success, failure, _ := strings.Cut(rest, " ! ")
		for to := range strings.FieldsSeq(success) {
			if s.Kind == AwaitState {
				s.Signals = append(s.Signals, Signal{Name: "to_" + to, Next: []Branch{{To: to}}})
				continue
			}
			s.Next = append(s.Next, Branch{To: to})
		}
		for to := range strings.FieldsSeq(failure) {
			if s.Catch == nil {
				s.Catch = map[string][]Branch{}
			}
			s.Catch["c"+to] = []Branch{{To: to}}
		}
		d.States = append(d.States, s)
		d.index[s.Name] = s
	}
	d.Start = d.States[0].Name
	if d.index["FAILED"] != nil {
		d.OnFailure.To = "FAILED"
	}
	return d
}

// matrix says for every state which outputs are known where it is entered: +
// surely, ? on some paths, - never.
func matrix(g *graph, where availability) string {
	f := newFlow(g)
	var rows []string
	for i, s := range g.states {
		var row strings.Builder
		for j, of := range g.states {
			surely, ever := f.known(j, i, where)
			switch {
			case of.Kind == EndState:
			case !ever && surely:
				row.WriteString("!") // must not be
			case surely:
				row.WriteString("+")
			case ever:
				row.WriteString("?")
			default:
				row.WriteString("-")
			}
		}
		rows = append(rows, s.Name+row.String())
	}
	return strings.Join(rows, " ")
}

func TestOutputsAreKnownAfterSuccess(t *testing.T) {
	tests := []struct{ name, text, onEntry, afterSuccess, undoing string }{
		{
			"Chain", "A = B\nB = C\nC = D\nD",
			"A--- B+-- C++- D+++", "A+-- B++- C+++ D+++", "A+?? B++? C+++ D+++",
		},
		{
			"Diamond", "A = B C\nB = D\nC = D\nD = E\nE",
			"A---- B+--- C+--- D+??- E+??+", "A+--- B++-- C+-+- D+??+ E+??+", "A+??? B++-? C+-+? D+??+ E+??+",
		},
		{
			"CatchSkipsItsState", "A = B\nB = C ! C\nC = D\nD",
			"A--- B+-- C+?- D+?+", "A+-- B++- C+?+ D+?+", "A+?? B++? C+?+ D+?+",
		},
		{
			"OnlyByCatch", "A = D ! B\nB = D\nD",
			"A-- B-- D??", "A+- B-+ D??", "A+? B-+ D??",
		},
		{
			"OwnFailure", "A = B\nB = C | F\nC = D\nD\nF",
			"A--- B+-- C++- D+++ F+--", "A+-- B++- C+++ D+++ F+--", "A+?? B++? C+++ D+++ F+--",
		},
		{
			"WorkflowFailureFromEverywhere", "A = B\nB = C\nC = D\nD\nFAILED",
			"A--- B+-- C++- D+++ FAILED???", "A+-- B++- C+++ D+++ FAILED???", "A+?? B++? C+++ D+++ FAILED???",
		},
		{
			"Cycle", "A = B\nB = C\nC = B D\nD",
			"A--- B+?? C++? D+++", "A+-- B++? C+++ D+++", "A+?? B++? C+++ D+++",
		},
		{
			"CycleToTheStart", "A = B\nB = A C\nC",
			"A?? B+? C++", "A+? B++ C++", "A+? B++ C++",
		},
		{
			"TwoWaysAndAShortcut", "A = B C\nB = C D\nC = D\nD = E\nE",
			"A---- B+--- C+?-- D+??- E+??+", "A+--- B++-- C+?+- D+??+ E+??+", "A+??? B++?? C+?+? D+??+ E+??+",
		},
		{
			"SelfCycle", "A = A B\nB",
			"A? B+", "A+ B+", "A+ B+",
		},
		{
			"WaitAndAwait", "A = w\nw = S\nS? = B C ! B\nB = D\nC = D\nD",
			"A----- w+---- S++--- B++?-- C+++-- D++???",
			"A+---- w++--- S+++-- B++?+- C+++-+ D++???",
			"A+???? w++??? S+++?? B++?+- C+++-+ D++???",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGraph(sketch(t, tt.text))
			if got := matrix(g, onEntry); got != tt.onEntry {
				t.Errorf("on entry:\n got %s\nwant %s", got, tt.onEntry)
			}
			for _, place := range []availability{afterError, intoFailure} {
				if got := matrix(g, place); got != tt.onEntry {
					t.Errorf("place %d:\n got %s\nwant %s", place, got, tt.onEntry)
				}
			}
			for _, place := range []availability{afterSuccess, afterSignal} {
				if got := matrix(g, place); withoutEnds(g, got) != withoutEnds(g, tt.afterSuccess) {
					t.Errorf("place %d:\n got %s\nwant %s", place, got, tt.afterSuccess)
				}
			}
			if got := matrix(g, undoing); withoutEnds(g, got) != withoutEnds(g, tt.undoing) {
				t.Errorf("undoing:\n got %s\nwant %s", got, tt.undoing)
			}
		})
	}
}

// withoutEnds leaves out the rows of ends, which have no guards and nothing to
// undo.
func withoutEnds(g *graph, rows string) string {
	var list []string
	for i, row := range strings.Fields(rows) {
		if g.states[i].Kind != EndState {
			list = append(list, row)
		}
	}
	return strings.Join(list, " ")
}

// randomGraph has a few edges a node, and some nodes without any.
func randomGraph(r *rand.Rand) [][]int {
	next := make([][]int, 1+r.IntN(90))
	for i := range next {
		for range r.IntN(4) {
			next[i] = append(next[i], r.IntN(len(next)))
		}
	}
	return next
}

// A node dominates another one if that cannot be reached without it.
func TestDominatorsAreThoseWithoutWhichThereIsNoPath(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		next := randomGraph(r)
		doms := dominators(next, 0)
		reached := reach(next, 0)
		for by := range next {
			cut := slices.Clone(next)
			cut[by] = nil
			without := reach(cut, 0)
			for node := range next {
				want := reached[node] && (node == by || by == 0 || !without[node])
				if got := doms[node].has(by); got != want {
					t.Fatalf("in %v: %d dominates %d: %t, want %t", next, by, node, got, want)
				}
			}
		}
	}
}

func TestPartsAreNodesThatLeadToEachOther(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		next := randomGraph(r)
		keep := make([]bool, len(next))
		kept := make([][]int, len(next))
		for i := range keep {
			keep[i] = r.IntN(5) > 0
		}
		for i, list := range next {
			for _, j := range list {
				if keep[i] && keep[j] {
					kept[i] = append(kept[i], j)
				}
			}
		}
		var want []*part
		from := make([][]bool, len(next))
		for i := range next {
			from[i] = reach(kept, kept[i]...) // not i itself unless by a cycle
		}
		together := func(i, j int) bool { return i == j || from[i][j] && from[j][i] }
		for i := range next {
			p := &part{cycle: from[i][i]}
			for j := range next {
				if keep[i] && keep[j] && together(i, j) {
					p.nodes = append(p.nodes, j)
				}
			}
			if !keep[i] || p.nodes[0] != i {
				continue
			}
			for a, list := range kept {
				for _, b := range list {
					p.left = p.left || together(i, a) && !together(i, b)
					p.entered = p.entered || !together(i, a) && together(i, b)
				}
			}
			want = append(want, p)
		}
		got := parts(next, keep)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(part{})); diff != "" {
			t.Fatalf("parts of %v (-want +got):\n%s", kept, diff)
		}
	}
}

func TestStatesBeforeThePivot(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"NoPivot", "A = B\nB = C\nC", "A B C"},
		{"Chain", "A = B\nB* = C\nC = D\nD", "A B"},
		{"StartIsThePivot", "A* = B\nB = C\nC\nFAILED", "A FAILED"},
		{"Catch", "A = B\nB* = C ! U\nC = D\nU = F\nD\nF", "A B U F"},
		{"OwnFailure", "A = B\nB* = C | F\nC = D\nD\nF", "A B F"},
		{"CatchLeadsBehindThePivot", "A = B\nB* = C ! C\nC = D\nD", "A B C D"},
		{"AroundThePivot", "A = B C\nB* = C\nC = D\nD = E\nE", "A B C D E"},
		{"TwoPivots", "A = B\nB* = C ! X\nC* = D ! Y\nX = E\nY = E\nD\nE", "A B X E"},
		{"BehindAwait", "A? = B C\nB* = D\nC = D2\nD = E\nD2 = E\nE", "A B C D2 E"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGraph(sketch(t, tt.text))
			var got []string
			for i, is := range g.beforePivot() {
				if is {
					got = append(got, g.states[i].Name)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("before the pivot: %v, want %s", got, tt.want)
			}
		})
	}
}

// found returns the rules and places of what phase 4 finds, the line of each
// state being its place in the sketch.
func found(t *testing.T, text string) string {
	t.Helper()
	p := newParser("sketch")
	p.def = sketch(t, text)
	for i, s := range p.def.States {
		s.at = position{i + 1, 1}
		s.Wait = &Wait{}
		p.states = append(p.states, &draftState{State: s, keys: map[string]position{"irreversible": s.at}})
	}
	p.checkGraph()
	var list []string
	for _, d := range p.sorted() {
		name := "START"
		if d.Line > 0 {
			name = p.def.States[d.Line-1].Name
		}
		list = append(list, d.Rule+" "+name)
	}
	return strings.Join(list, ", ")
}

func TestGraphRules(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"Sound", "A = B ! F\nB = C\nC\nF", ""},
		{"SeveralEnds", "A = B C\nB\nC\nFAILED", ""},

		{"Unreachable", "A = C\nB = C\nC", "unreachable-state B"},
		{"UnreachableEnd", "A = B\nB\nC", "unreachable-state C"},
		{"UnreachableChain", "A = D\nB = C\nC = D E\nD\nE", "unreachable-state B"},
		{"UnreachableCycle", "A = D\nB = C\nC = B D\nD", "unreachable-state B"},
		{"TwoUnreachable", "A = D\nB = E\nC = E\nE = D\nD", "unreachable-state B, unreachable-state C"},
		{"UnreachableLoop", "A = D\nB = B D\nD", "unreachable-state B"},
		{"ReachedBySignal", "A? = B C\nB = D\nC = D\nD", ""},
		{"ReachedByCatch", "A = D ! B\nB = D\nD", ""},
		{"ReachedByOwnFailure", "A = D | F\nD\nF", ""},
		{"ReachedByTheDeadline", "A = D\nD\nFAILED", ""},
		{"ReachedByFailureOfTheUnreachable", "A = D\nB = D | F\nD\nF", "unreachable-state B"},

		{"NoEnd", "A = B\nB = C\nC = B\nFAILED\nD", "no-end B, unreachable-state D"},
		{"NoEndButByCatch", "A = B D\nB = C ! D\nC = B\nD", "no-end B"},
		{"NoEndAlone", "A = A D\nB = B\nD", "unreachable-state B"},
		{"NoEndOfItself", "A = B D\nB = B\nD", "no-end B"},
		{"NoEndTwice", "A = B C D\nB = B\nC = C\nD", "no-end B, no-end C"},
		{"NoEndOfTheRing", "A = B D\nB = C\nC = E\nE = C\nD", "no-end C"},
		{"NoEndOfWaits", "A = w D\nw = v\nv = w\nD", "no-end w"},

		{"PivotOnACycle", "A = B\nB* = A C\nC", "irreversible-cycle B"},
		{"PivotOnACycleByCatch", "A = B\nB* = C ! A\nC", "irreversible-cycle B"},
		{"PivotOfItself", "A* = A B\nB", "irreversible-cycle A"},
		{"TwoPivotsOnACycle", "A* = B\nB* = A C\nC", "irreversible-cycle A"},
		{"TwoCyclesOfPivots", "A* = A B\nB* = B C\nC", "irreversible-cycle A, irreversible-cycle B"},
		{"PivotBehindACycle", "A = B\nB = w C\nw = A\nC* = D\nD", ""},

		{"Tight", "A = B\nB = A C\nC", "tight-cycle A"},
		{"TightItself", "A = B\nB = B C\nC", "tight-cycle B"},
		{"TightByCatch", "A = B ! A\nB", "tight-cycle A"},
		{"TightTwice", "A = A B\nB = B C\nC", "tight-cycle A, tight-cycle B"},
		{"TightBesideAWait", "A = B\nB = w C\nw = A\nC = B D\nD", "tight-cycle B"},
		{"WaitOnTheCycle", "A = w\nw = A C\nC", ""},
		{"AwaitOnTheCycle", "A = S\nS? = A C\nC", ""},
		{"CycleOfWaits", "A = w\nw = v\nv = w C\nC", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := found(t, tt.text); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNoSuccess(t *testing.T) {
	p := newParser("sketch")
	p.def = sketch(t, "A = B\nB")
	p.def.index["B"].Failed = true
	p.starts = position{7, 8}
	p.checkGraph()
	if got := fmt.Sprint(p.list); !strings.Contains(got, "sketch:7:8: no state with end: succeeded can be reached from A") {
		t.Errorf("found %s, want no-success", got)
	}
	if p.graph != nil {
		t.Error("a graph with an error is kept")
	}
}

func TestWorstCase(t *testing.T) {
	const s, m = time.Second, time.Minute
	tests := []struct {
		name    string
		retry   Retry
		timeout time.Duration
		want    time.Duration
	}{
		{"Once", Retry{MaxAttempts: 1, InitialDelay: 5 * s, Backoff: 2, MaxDelay: m}, 20 * s, 20 * s},
		{"Twice", Retry{MaxAttempts: 2, InitialDelay: 5 * s, Backoff: 2, MaxDelay: m}, 20 * s, 45 * s},
		{
			"GrowsUpToTheLargestDelay", // 8 × 45 s and 5 + 10 + 20 + 40 + 80 + 120 + 120 s
			Retry{MaxAttempts: 8, InitialDelay: 5 * s, Backoff: 2, MaxDelay: 2 * m}, 45 * s, 12*m + 35*s,
		},
		{"NoGrowth", Retry{MaxAttempts: 4, InitialDelay: 5 * s, Backoff: 1, MaxDelay: m}, 10 * s, 55 * s},
		{"JitterOnlyShortens", Retry{MaxAttempts: 2, InitialDelay: 5 * s, Backoff: 2, MaxDelay: m, Jitter: 1}, s, 7 * s},
		{"FirstDelayIsTheLargest", Retry{MaxAttempts: 3, InitialDelay: m, Backoff: 10, MaxDelay: m}, s, 2*m + 3*s},
		{
			"BackoffBeyondNumbers",
			Retry{MaxAttempts: 1000, InitialDelay: s, Backoff: 10, MaxDelay: 10 * s},
			s,
			1000*s + s + 998*10*s,
		},
		{
			"Saturates",
			Retry{MaxAttempts: 1000, InitialDelay: s, Backoff: 10, MaxDelay: math.MaxInt64},
			s,
			math.MaxInt64,
		},
		{"SaturatesByTimeout", Retry{MaxAttempts: 3, InitialDelay: s, Backoff: 1, MaxDelay: s}, math.MaxInt64, math.MaxInt64},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := worstCase(tt.retry, tt.timeout); got != tt.want {
				t.Errorf("worstCase() = %s, want %s", got, tt.want)
			}
		})
	}
}
