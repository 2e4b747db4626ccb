package git

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/engine"
)

// The trailers of a merge commit.
const (
	instanceTrailer = "Pawl-Instance: "
	keyTrailer      = "Pawl-Key: "
)

// commitTree writes the merge commit, or finds that it is written already.
func (j *job) commitTree(ctx context.Context, tree, base string) (string, error) {
	out, err := j.read(ctx, j.message, "commit-tree", tree, "-p", base, "-p", j.head)
	if err != nil {
		return "", err
	}
	id := string(bytes.TrimSpace(out))
	if !isHex(id) {
		return "", engine.Definite(fmt.Errorf("git commit-tree answered %q", printable(id, maxText)))
	}
	return id, nil
}

// message returns the text of the merge commit, which is equal on every
// attempt.
func message(call engine.Call[MergeInput]) string {
	var b strings.Builder
	what := "commit " + call.In.HeadSHA
	if call.In.PRID != "" {
		what = "pull request " + printable(oneLine(call.In.PRID), 100)
	}
	fmt.Fprintf(&b, "Merge %s into %s\n", what, call.In.Base)
	if call.Instance != "" || call.Key != "" {
		b.WriteString("\n")
	}
	if call.Instance != "" {
		b.WriteString(instanceTrailer + oneLine(call.Instance) + "\n")
	}
	if call.Key != "" {
		b.WriteString(keyTrailer + oneLine(call.Key) + "\n")
	}
	return b.String()
}

// oneLine percent-encodes what could end a line, hide or be dropped: controls,
// invisible characters, invalid UTF-8 and spaces at the ends; and the percent
// sign, so that different texts stay different.
func oneLine(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		end := i == 0 || i+n == len(s)
		if r == utf8.RuneError && n == 1 || r == '%' || !unicode.IsPrint(r) || r == ' ' && end {
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}
