// Package golden compares the output of a test with a file in testdata.
//
//	go test ./engine/definition -update    writes the files of one package
//	PAWL_UPDATE=1 go test ./...            writes those of all packages
//
// The second form is for several packages at once: the flag exists only in the
// tests of packages that import this one, and go test stops where it is not
// known.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", os.Getenv("PAWL_UPDATE") != "", "write the golden files")

// Check fails tb unless got is what file holds. With -update it writes the file
// instead.
func Check(tb testing.TB, file string, got []byte) {
	tb.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			tb.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		tb.Fatalf("%v (run the test with -update to write it)", err)
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
