package definition_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/internal/golden"
)

// shipped is the name that the variants of a shipped file are parsed under, so
// that the messages look as they do for the file itself.
func shipped(src []byte) string {
	for _, name := range []string{"outbox-delivery", "payment", "message-delivery", "all-features"} {
		if regexp.MustCompile(`(?m)^workflow: ` + name + `( +#|$)`).Match(src) {
			return name + ".yaml"
		}
	}
	return "pr-merge.yaml"
}

// goldens calls f for every file of a folder below testdata.
func goldens(t *testing.T, folder string, f func(t *testing.T, out string, src []byte)) {
	t.Helper()
	files, err := filepath.Glob("testdata/" + folder + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f(t, strings.TrimSuffix(file, ".yaml")+".out", src)
		})
	}
}

func lines(list definition.Diagnostics) []byte {
	var b bytes.Buffer
	for _, d := range list {
		b.WriteString(d.Error())
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Each testdata/err/NAME.yaml is a shipped file with one edit; NAME.out has
// its messages.
func TestParseErrors(t *testing.T) {
	goldens(t, "err", func(t *testing.T, out string, src []byte) {
		d, list := definition.Parse(shipped(src), src)
		if d != nil || list.Err() == nil {
			t.Fatalf("Parse gave a definition (%v) and the errors %v, want only errors", d != nil, list.Err())
		}
		golden.Check(t, out, lines(list))
	})
}

func TestParseWarnings(t *testing.T) {
	goldens(t, "warn", func(t *testing.T, out string, src []byte) {
		d, list := definition.Parse(shipped(src), src)
		if d == nil || list.Err() != nil || len(list) == 0 {
			t.Fatalf("Parse gave a definition (%v) and %v, want a definition and warnings", d != nil, list)
		}
		golden.Check(t, out, lines(list))
	})
}

// Each testdata/unused/NAME.yaml has no finding; NAME.out has what of its input
// is not used.
func TestUnused(t *testing.T) {
	goldens(t, "unused", func(t *testing.T, out string, src []byte) {
		d, list := definition.Parse(shipped(src), src)
		if len(list) > 0 {
			t.Fatalf("Parse: %v", list)
		}
		golden.Check(t, out, lines(definition.Unused(d)))
	})
}

func TestCheckErrors(t *testing.T) {
	goldens(t, "check", func(t *testing.T, out string, src []byte) {
		d, list := definition.Parse(shipped(src), src)
		if len(list) > 0 {
			t.Fatalf("Parse: %v", list)
		}
		found := definition.Check(d, manifest())
		if found.Err() == nil {
			t.Fatal("Check found nothing, want errors")
		}
		golden.Check(t, out, lines(found))
	})
}

func TestParseOK(t *testing.T) {
	goldens(t, "ok", func(t *testing.T, _ string, src []byte) {
		d, list := definition.Parse("ok", src)
		if d == nil || len(list) > 0 {
			t.Errorf("Parse found %v, want nothing", list)
		}
	})
}

// A rule that no golden file shows has a message that nobody has read.
func TestEveryRuleHasAGolden(t *testing.T) {
	shown := map[string]bool{
		"expr-fault": true, // of run time, see TestFaultsNameThePlace
		"file-size":  true, // a large file, see TestLimits
	}
	tail := regexp.MustCompile(`(?m) \[([a-z0-9.-]+)\]$`)
	files, err := filepath.Glob("testdata/*/*.out")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range tail.FindAllSubmatch(text, -1) {
			shown[string(m[1])] = true
		}
	}
	rules := emitted(t)
	if len(rules) < 40 {
		t.Fatalf("found only the rules %v in the source", rules)
	}
	for _, rule := range rules {
		if !shown[rule] {
			t.Errorf("no golden file shows the rule %q", rule)
		}
	}
}

// emitted returns the rules that the sources of this package and of package
// expression name.
func emitted(t *testing.T) []string {
	t.Helper()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	sources = append(sources, "../expression/error.go")
	rules := []string{}
	add := func(e ast.Expr) {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return
		}
		if rule, err := strconv.Unquote(lit.Value); err == nil && !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	for _, file := range sources {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				if ok && (sel.Sel.Name == "errorf" || sel.Sel.Name == "warnf") && len(n.Args) > 2 {
					add(n.Args[1])
				}
			case *ast.ValueSpec:
				if id, ok := n.Type.(*ast.Ident); ok && id.Name == "Rule" {
					for _, v := range n.Values {
						add(v)
					}
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok && id.Name == "Rule" {
					add(n.Value)
				}
			}
			return true
		})
	}
	return rules
}
