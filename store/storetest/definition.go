package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/engine"
)

func definitionClauses() []clause {
	return []clause{
		{"Definition/ComesBack", definitionComesBack},
		{"Definition/TheSameAgainIsFine", definitionAgain},
		{"Definition/AnotherTextOfAVersionIsErrConflict", definitionConflict},
		{"Definition/MissingIsErrNotFound", definitionMissing},
		{"Definition/VersionsNewestFirst", definitionVersions},
	}
}

func definitionComesBack(t *testing.T, s engine.Store) {
	all := []engine.StoredDefinition{
		{Workflow: "flow", Version: 1, Hash: "h1", Source: []byte("workflow: flow\nversion: 1\n# ü\n")},
		{Workflow: "flow", Version: 2, Hash: "h2", Source: []byte(strings.Repeat("# long\n", 20_000))},
		{Workflow: "other", Version: 1, Hash: "h1", Source: []byte("workflow: other\n")},
	}
	for _, d := range all {
		if err := s.PutDefinition(t.Context(), start, d); err != nil {
			t.Fatalf("PutDefinition: %v", err)
		}
	}
	for _, want := range all {
		got, err := s.Definition(t.Context(), want.Workflow, want.Hash)
		if err != nil {
			t.Fatalf("Definition: %v", err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("definition differs (-want +got):\n%s", diff)
		}
	}
}

func definitionAgain(t *testing.T, s engine.Store) {
	d := engine.StoredDefinition{Workflow: "flow", Version: 1, Hash: "h1", Source: []byte("x")}
	for range 3 {
		if err := s.PutDefinition(t.Context(), start, d); err != nil {
			t.Fatalf("PutDefinition: %v", err)
		}
	}
}

func definitionConflict(t *testing.T, s engine.Store) {
	d := engine.StoredDefinition{Workflow: "flow", Version: 1, Hash: "hash-that-is-there", Source: []byte("x")}
	if err := s.PutDefinition(t.Context(), start, d); err != nil {
		t.Fatal(err)
	}
	other := d
	other.Hash, other.Source = "another", []byte("y")
	err := s.PutDefinition(t.Context(), start, other)
	if !errors.Is(err, engine.ErrConflict) || !strings.Contains(err.Error(), d.Hash) {
		t.Errorf("PutDefinition = %v, want ErrConflict naming %q", err, d.Hash)
	}
	got, err := s.Definition(t.Context(), "flow", d.Hash)
	if err != nil || string(got.Source) != "x" {
		t.Errorf("Definition = %+v, %v, want the first text", got, err)
	}
	if _, err := s.Definition(t.Context(), "flow", other.Hash); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("Definition of the refused text = %v, want ErrNotFound", err)
	}
}

func definitionMissing(t *testing.T, s engine.Store) {
	if _, err := s.Definition(t.Context(), "flow", "nothing"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("Definition = %v, want ErrNotFound", err)
	}
}

func definitionVersions(t *testing.T, s engine.Store) {
	var want []engine.StoredDefinition
	for _, version := range []int{2, 10, 1} {
		d := engine.StoredDefinition{
			Workflow: "flow", Version: version, Hash: fmt.Sprint("h", version), Source: []byte(fmt.Sprint("version: ", version)),
		}
		other := d
		other.Workflow = "flow2"
		for _, d := range []engine.StoredDefinition{d, other} {
			if err := s.PutDefinition(t.Context(), start, d); err != nil {
				t.Fatal(err)
			}
		}
		want = append(want, d)
	}
	slices.SortFunc(want, func(a, b engine.StoredDefinition) int { return b.Version - a.Version })
	got, err := s.Versions(t.Context(), "flow")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Versions (-want +got):\n%s", diff)
	}
	if got, err := s.Versions(t.Context(), "nothing"); err != nil || len(got) > 0 {
		t.Errorf("Versions of what is not stored = %v, %v", got, err)
	}
}
