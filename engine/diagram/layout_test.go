package diagram

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// random returns a workflow of n states that lead anywhere. It is not valid:
// states may be unreachable, and failed ends many.
func random(r *rand.Rand, n int) *definition.Definition {
	def := &definition.Definition{
		Workflow: "random", Version: 1, Start: "S0", Deadline: time.Hour,
		OnFailure: definition.OnFailure{Policy: definition.MarkFailed, To: fmt.Sprintf("S%d", n-1)},
	}
	for i := range n {
		s := &definition.State{Name: fmt.Sprintf("S%d", i), Kind: definition.StepState, Step: "a.step", OnFailure: def.OnFailure}
		if i >= n-1-n/8 {
			s.Kind, s.Failed = definition.EndState, i%3 == (n-1)%3
			def.States = append(def.States, s)
			continue
		}
		to := func() string { return fmt.Sprintf("S%d", r.IntN(n)) }
		if r.IntN(4) > 0 {
			s.Next = append(s.Next, definition.Branch{To: fmt.Sprintf("S%d", i+1)})
		}
		for range r.IntN(4) {
			s.Next = append(s.Next, definition.Branch{To: to()})
		}
		s.Catch = map[string][]definition.Branch{}
		for c := range r.IntN(3) {
			s.Catch[fmt.Sprintf("code_%d", c)] = []definition.Branch{{To: to()}}
		}
		s.Irreversible = r.IntN(5) == 0
		if r.IntN(3) == 0 {
			s.Compensate = &definition.Compensation{Step: "a.much_longer_name_of_a_step"}
		}
		def.States = append(def.States, s)
	}
	return def
}

// area is a rectangle that something takes.
type area struct {
	what         string
	x, y, x2, y2 int
}

func (a area) meets(b area) bool { return a.x < b.x2 && b.x < a.x2 && a.y < b.y2 && b.y < a.y2 }

// areas are what must not lie on each other: states, labels, and edges where
// they pass a rank.
func areas(l *layout) []area {
	var list []area
	for _, rank := range l.ranks {
		for _, b := range rank {
			what, y, y2 := "an edge", b.from, b.to
			if b.node != nil {
				what, y, y2 = b.node.name, b.y, b.y+b.h
			} else if b.h > 0 {
				what = "label of " + b.link.edge.from.name + " → " + b.link.edge.to.name
			}
			half := max(b.w/2, 1)
			list = append(list, area{what, b.x - half - b.room, y, b.x + half, y2})
		}
	}
	for _, b := range l.ends {
		list = append(list, area{b.node.name, b.x - b.w/2, b.y, b.x + b.w/2, b.y + b.h})
	}
	for _, s := range l.stubs {
		if w, h := labelSize(s.edge); h > 0 {
			x := l.labelColumn()
			list = append(list, area{"label of " + s.from.node.name + " → " + s.to.node.name, x, s.y - h/2, x + w, s.y + h/2})
		}
	}
	return list
}

func TestNothingLiesOnAnother(t *testing.T) {
	for seed := range uint64(100) {
		n := 3 + int(seed)%30
		d := New(random(rand.New(rand.NewPCG(seed, 1)), n), Options{})
		l := newLayout(d)
		list := areas(l)
		for i, a := range list {
			if a.x < 0 || a.y < 0 || a.x2 > l.width || a.y2 > l.height {
				t.Fatalf("seed %d: %+v is outside of the picture, which is %d by %d", seed, a, l.width, l.height)
			}
			for _, b := range list[:i] {
				if a.meets(b) {
					t.Fatalf("seed %d: %+v lies on %+v", seed, a, b)
				}
			}
		}
	}
}

// The longest way to a success is a straight line down.
func TestStraightWay(t *testing.T) {
	for seed := range uint64(100) {
		l := newLayout(New(random(rand.New(rand.NewPCG(seed, 2)), 3+int(seed)%30), Options{}))
		var last *box
		for _, rank := range l.ranks {
			for _, b := range rank {
				if b.side != middle {
					continue
				}
				if last != nil && (b.x != last.x || b.y < last.y+last.h) {
					t.Fatalf("seed %d: the way goes from %d, %d to %d, %d", seed, last.x, last.y+last.h, b.x, b.y)
				}
				last = b
			}
		}
	}
}

// Edges of failure are right of the way, unless they lead to what success leads
// to, too.
func TestFailuresAreOnTheRight(t *testing.T) {
	for seed := range uint64(100) {
		l := newLayout(New(random(rand.New(rand.NewPCG(seed, 3)), 3+int(seed)%30), Options{}))
		for _, s := range l.stubs {
			if s.trunk.x <= s.from.x+s.from.w/2 || s.y < s.from.y {
				t.Fatalf("seed %d: the line from %s to %s does not lead to the right", seed, s.from.node.name, s.to.node.name)
			}
			for r, rank := range l.ranks {
				if s.dip > 0 && len(rank) > 0 && s.y+stubStep/2 > rank[0].from && s.y-stubStep/2 < rank[0].to {
					t.Fatalf("seed %d: the line from %s to %s runs through rank %d", seed, s.from.node.name, s.to.node.name, r)
				}
			}
		}
		for _, k := range l.links {
			if k.edge.failure() && k.side == middle {
				t.Fatalf("seed %d: %s → %s is an error on the straight way", seed, k.edge.from.name, k.edge.to.name)
			}
		}
	}
}

// Two states that cross over are exchanged; what cannot be helped stays.
func TestOrderTakesCrossingsAway(t *testing.T) {
	before, after := 0, 0
	for seed := range uint64(100) {
		d := New(random(rand.New(rand.NewPCG(seed, 8)), 3+int(seed)%30), Options{})
		l := newLayout(d)
		after += l.crossings()
		for _, rank := range l.ranks {
			rng := rand.New(rand.NewPCG(seed, 9))
			sortRank(rank, func(*box) float64 { return rng.Float64() })
		}
		before += l.crossings()
	}
	if after*100 > before*14 {
		t.Errorf("%d crossings are left of %d in a random order", after, before)
	}
	a, b, c, d := &box{seat: 0}, &box{seat: 1}, &box{seat: 0}, &box{seat: 1}
	connect(a, d)
	connect(b, c)
	l := &layout{ranks: [][]*box{{a, b}, {c, d}}}
	if l.swap(); l.crossings() != 0 {
		t.Error("two edges still cross")
	}
}

func TestTheSamePictureAgain(t *testing.T) {
	def := random(rand.New(rand.NewPCG(4, 4)), 40)
	want := New(def, Options{}).SVG()
	for range 5 {
		if got := New(def, Options{}).SVG(); !bytes.Equal(got, want) {
			t.Fatal("two pictures of one definition differ")
		}
	}
}

// As many states as a workflow can have, which lead to everywhere, are drawn.
func TestLargest(t *testing.T) {
	const n = 200
	r := rand.New(rand.NewPCG(7, 7))
	def := random(r, n)
	for _, s := range def.States {
		for range 8 {
			if s.Kind != definition.EndState {
				s.Next = append(s.Next, definition.Branch{To: fmt.Sprintf("S%d", r.IntN(n))})
			}
		}
	}
	svg := New(def, Options{}).SVG()
	for _, s := range def.States {
		if !bytes.Contains(svg, []byte(">"+s.Name+"<")) {
			t.Errorf("state %s is not in the picture", s.Name)
		}
	}
}

// Two pictures may be drawn at once, also of one diagram.
func TestConcurrentUse(t *testing.T) {
	d := New(random(rand.New(rand.NewPCG(5, 5)), 30), Options{})
	want := d.SVG()
	done := make(chan []byte)
	for range 4 {
		go func() { done <- d.SVG() }()
	}
	for range 4 {
		if got := <-done; !bytes.Equal(got, want) {
			t.Error("a picture drawn beside others differs")
		}
	}
}

// The points are as near to their wishes as their distance allows.
func TestSpread(t *testing.T) {
	tests := []struct {
		name   string
		wishes []int
		want   []int
	}{
		{"Room", []int{0, 50, 100}, []int{0, 50, 100}},
		{"Close", []int{0, 0}, []int{-5, 5}},
		{"Three", []int{0, 0, 0}, []int{-10, 0, 10}},
		{"OtherOrder", []int{10, 0}, []int{0, 10}},
		{"OneFar", []int{0, 0, 100}, []int{-5, 5, 100}},
		{"None", nil, []int{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := spread(len(tt.wishes), func(i int) (int, float64) { return tt.wishes[i], 1 }, func(int) int { return 10 })
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("spread(%v) = %v, want %v", tt.wishes, got, tt.want)
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	tests := []struct{ text, want string }{
		{"a\n b\tc ", "a b c"},
		{"0123456789", "0123456789"},
		{"0123456789x", "012345678…"},
		{"文字文字文", "文字文字文"},
		{"文字文字文字", "文字文字…"},
		{"a\x00\u202eb\xff", "ab"},
		{"0123456 89x", "0123456 8…"},
	}
	for _, tt := range tests {
		if got := oneLine(tt.text, 10); got != tt.want {
			t.Errorf("oneLine(%q, 10) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func BenchmarkSVG(b *testing.B) {
	for _, n := range []int{10, 50, 200} {
		def := random(rand.New(rand.NewPCG(6, 6)), n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				New(def, Options{}).SVG()
			}
		})
	}
}
