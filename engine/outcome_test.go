package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestVerdicts(t *testing.T) {
	cause := errors.New("boom")
	tests := []struct {
		name string
		err  error
		want Verdict
	}{
		{"PlainErrorIsUnknown", cause, Verdict{}},
		{"Fail", Fail("full", cause), Verdict{Code: "full", Definite: true}},
		{"FailWithoutError", Fail("full", nil), Verdict{Code: "full", Definite: true}},
		{"Permanent", Permanent(cause), Verdict{Definite: true, Permanent: true}},
		{"WrappedPermanent", fmt.Errorf("x: %w", Permanent(cause)), Verdict{Definite: true, Permanent: true}},
		{"Definite", Definite(cause), Verdict{Definite: true}},
		{"RetryAfterKeepsUnknown", RetryAfter(cause, time.Minute), Verdict{After: time.Minute}},
		{"TargetDown", TargetDown(cause), Verdict{Definite: true, TargetDown: true}},
		{"WaitIsAtLeastASecond", Wait(0, "CI"), Verdict{Definite: true, Wait: true, After: time.Second}},
		{"Combined", Fail("busy", RetryAfter(Definite(cause), time.Hour)), Verdict{Code: "busy", Definite: true, After: time.Hour}},
		{"OuterCodeWins", Fail("outer", Fail("inner", cause)), Verdict{Code: "outer", Definite: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, VerdictOf(tt.err)); diff != "" {
				t.Errorf("VerdictOf(%v) (-want +got):\n%s", tt.err, diff)
			}
		})
	}
	for name, err := range map[string]error{
		"Permanent": Permanent(nil), "Definite": Definite(nil), "RetryAfter": RetryAfter(nil, 1), "TargetDown": TargetDown(nil),
	} {
		if err != nil {
			t.Errorf("%s(nil) = %v, want nil", name, err)
		}
	}
	if err := Fail("full", fmt.Errorf("outer: %w", cause)); !errors.Is(err, cause) {
		t.Errorf("Fail hides its cause")
	}
}

func TestCleanTextIsStorable(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"Short", "no route", "no route"},
		{"NUL", "a\x00b", "a\ufffdb"},
		{"BadUTF8", "a\xffb", "a\ufffdb"},
		{"Long", strings.Repeat("ё", MaxMessage), strings.Repeat("ё", (MaxMessage-4)/2) + " …"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := cleanText(tt.in)
			if got != tt.want {
				t.Errorf("cleanText = %.40q (%d bytes), want %.40q (%d bytes)", got, len(got), tt.want, len(tt.want))
			}
			if len(got) > MaxMessage || !utf8.ValidString(got) {
				t.Errorf("cleanText gave %d bytes, valid %t", len(got), utf8.ValidString(got))
			}
		})
	}
}

// Different keys never share an id, whatever tildes and digits they have.
func TestInstanceIDIsInjective(t *testing.T) {
	seen := make(map[string]string)
	for _, key := range []string{"42", "42~", "42~2", "42~~2", "42~~", "~", "~2", "a/b", "a%2Fb", "ё/😀", "x y"} {
		for run := 1; run <= 3; run++ {
			id := InstanceID("w", key, run)
			at := fmt.Sprintf("key %q run %d", key, run)
			if other, ok := seen[id]; ok {
				t.Errorf("%s and %s have the id %q", at, other, id)
			}
			seen[id] = at
		}
	}
	if got := InstanceID("pr-merge", "42", 1); got != "pr-merge/42" {
		t.Errorf("InstanceID = %q, want pr-merge/42", got)
	}
}
