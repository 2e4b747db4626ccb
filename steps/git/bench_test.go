package git_test

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkMerge is one merge into a branch that grows by each.
func BenchmarkMerge(b *testing.B) {
	r := mustRepo(b)
	base := r.commit("main", files{"a": "1\n"})
	m := mustMerger(b, r, "")
	var in strings.Builder
	for i := range b.N {
		fmt.Fprintf(&in, "commit refs/heads/t%d\nmark :%d\ncommitter h <h@localhost> %d +0000\ndata 2\nm\nfrom %s\n"+
			"M 100644 inline d%d/f%d\ndata 2\n1\n\nget-mark :%d\n", i, i+1, 1700000000+i, base, i%50, i, i+1)
	}
	heads := strings.Fields(r.gitIn(in.String(), "fast-import", "--quiet"))
	b.ResetTimer()
	for i := range b.N {
		c := call(heads[i])
		c.Key = fmt.Sprint("key-", i)
		mustMerge(b, m, c)
	}
}
