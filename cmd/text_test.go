package pawlcmd

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	tests := []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"},
		{300 * time.Microsecond, "<1ms"},
		{999 * time.Millisecond, "999ms"},
		{time.Second, "1s"},
		{1999 * time.Millisecond, "1.9s"},
		{59*time.Second + 900*time.Millisecond, "59s"},
		{time.Minute, "1m"},
		{90 * time.Second, "1m30s"},
		{time.Hour + 59*time.Second, "1h"},
		{25 * time.Hour, "1d1h"},
		{-90 * time.Second, "-1m30s"},
	}
	for _, tt := range tests {
		if got := span(tt.d); got != tt.want {
			t.Errorf("span(%v) = %q, want %q", tt.d, got, tt.want)
		}
	}
	if got := age(-3 * time.Second); got != "-3s" { // a clock that is behind
		t.Errorf("age(-3s) = %q", got)
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"a/b ё/😀 日本", "a/b ё/😀 日本"},
		{"a\x1b[31mb", `a\x1b[31mb`},
		{"a\u202eb", `a\u202eb`},
		{"a\nb\tc", `a\nb c`},
		{"a\xffb", "a\ufffdb"},
	}
	for _, tt := range tests {
		if got := printable(tt.in); got != tt.want {
			t.Errorf("printable(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in    string
		width int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"ab d", 4, "ab d"},
		{"ab def", 4, "ab…"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"e\u0301e\u0301", 2, "e\u0301e\u0301"},
	}
	for _, tt := range tests {
		if got := clip(tt.in, tt.width); got != tt.want {
			t.Errorf("clip(%q, %d) = %q, want %q", tt.in, tt.width, got, tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"a b", []string{"a b"}},
		{"aaaa bbbb cccc", []string{"aaaa bbbb", "cccc"}},
		{"aaaaaaaaaaaaaa b", []string{"aaaaaaaaaa", "aaaa b"}},
		{"a\r\n\nb", []string{"a", "", "b"}},
	}
	for _, tt := range tests {
		if got := wrap(tt.in, 10); !slices.Equal(got, tt.want) {
			t.Errorf("wrap(%q, 10) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestShellWord(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"pr-merge/42", "pr-merge/42"},
		{"a b", "'a b'"},
		{"it's", `'it'\''s'`},
		{"$(x)", "'$(x)'"},
		{"", "''"},
	}
	for _, tt := range tests {
		if got := shellWord(tt.in); got != tt.want {
			t.Errorf("shellWord(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestTableKeepsToItsWidth has ids that are wider than the terminal.
func TestTableKeepsToItsWidth(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	tab := table{head: []string{"ID", "STATE", "ERROR"}}
	tab.add("a", "S", "short")
	tab.add(long, "S", strings.Repeat("e", 100))
	var b strings.Builder
	if err := tab.write(&b, 40); err != nil {
		t.Fatal(err)
	}
	want := "ID  STATE  ERROR\n" +
		"a   S      short\n" +
		long + "\n" +
		"    S      " + strings.Repeat("e", 28) + "…\n"
	if b.String() != want {
		t.Errorf("table =\n%s\nwant\n%s", b.String(), want)
	}
}
