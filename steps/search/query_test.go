package search_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/steps/search"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	x := mustNew(t, search.Config{Dir: filepath.Join(t.TempDir(), "index"), Source: commits{trees: map[string]files{
		commit(1): {
			"engine/tick.go": "func parse_request(w http.ResponseWriter) { if not for to }",
			"doc/читай.md":   "Привет, МИР",
			"merge.go":       "nothing here",
			"other.go":       "the word merge",
		},
	}}})
	mustUpdate(t, x, "r", commit(1))
	tests := []struct {
		text string
		want []string
	}{
		{"request", []string{"r:engine/tick.go"}},
		{"parse_request", []string{"r:engine/tick.go"}},
		{"ResponseWriter", []string{"r:engine/tick.go"}},
		{"http.responsewriter", []string{"r:engine/tick.go"}},
		{"if not for to", []string{"r:engine/tick.go"}}, // no word is too common
		{"request nothing", nil},                        // all words in one file
		{"tick.go", []string{"r:engine/tick.go"}},
		{"engine", []string{"r:engine/tick.go"}},
		{"мир", []string{"r:doc/читай.md"}},
		{"читай", []string{"r:doc/читай.md"}},
		{"merge", []string{"r:merge.go", "r:other.go"}},
		{"", nil},
		{"+-&&||!(){}[]^\"~*?:\\/", nil},
		{"repo:r", nil},
		{"\x00\xff", nil},
	}
	for _, tt := range tests {
		if got := found(t, x, search.Query{Text: tt.text}); !slices.Equal(got, tt.want) {
			t.Errorf("Search(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
	hits, err := x.Search(t.Context(), search.Query{Text: "merge", Limit: 1})
	if err != nil || len(hits) != 1 || hits[0].Path != "merge.go" || hits[0].Score <= 0 {
		t.Errorf("best hit = %+v, %v, want the file with the word in its path", hits, err)
	}
	if _, err := x.Search(t.Context(), search.Query{Text: strings.Repeat("x", 1001)}); err == nil {
		t.Error("Search of 1001 bytes succeeded")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, search.Query{Text: "merge"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Search of a cancelled context = %v, want Canceled", err)
	}
}
