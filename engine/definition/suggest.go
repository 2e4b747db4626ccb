package definition

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxKnown is how many names a message lists.
const maxKnown = 30

// mend says what could stand in the place of name: the nearest of the known
// names, or all of them.
func mend(name string, known []string) string {
	if best := nearest(name, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	switch {
	case len(known) == 0:
		return "remove it"
	case len(known) > maxKnown:
		return fmt.Sprintf("known: %s, …", strings.Join(known[:maxKnown], ", "))
	}
	return "known: " + strings.Join(known, ", ")
}

// nearest returns the known name that is at most two edits from name (one for
// names up to three letters), or "". Of equally near ones it is the one that
// begins and ends most alike: stats is rather status than state.
func nearest(name string, known []string) string {
	limit := 2
	if utf8.RuneCountInString(name) <= 3 {
		limit = 1
	}
	best, ends := "", 0
	for _, k := range known {
		d := distance(name, k, limit)
		if d > limit || d == 0 {
			continue
		}
		if same := commonEnds(name, k); best == "" || d < limit || same > ends {
			best, limit, ends = k, d, same
		}
	}
	return best
}

// commonEnds counts the bytes that a and b have in common at both ends.
func commonEnds(a, b string) int {
	n := min(len(a), len(b))
	head := 0
	for head < n && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head + tail
}

// distance counts the edits from a to b: letters inserted, deleted, replaced
// or swapped with their neighbour. Above limit it may return any number above
// it.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if diff := len(x) - len(y); diff > limit || -diff > limit {
		return limit + 1
	}
	before, row := []int(nil), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		next := make([]int, len(y)+1)
		next[0] = i + 1
		for j := range y {
			edit := row[j]
			if x[i] != y[j] {
				edit++
			}
			next[j+1] = min(edit, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
		if slices.Min(row) > limit {
			return limit + 1
		}
	}
	return row[len(y)]
}
