package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/pawl-dev/pawl"

// mayImport lists the packages of this module that a package may import, by
// folder. Imports point down only: cmd, then admin, steps and stores, then
// engine, then definition, then expression. Steps and stores never import each
// other, except that a kind of queue imports the queue.
func mayImport(folder string) ([]string, bool) {
	engine := []string{"engine", "engine/definition"}
	switch {
	case folder == "engine/expression":
		return nil, true
	case folder == "engine/definition":
		return []string{"engine/expression"}, true
	case folder == "engine", folder == "engine/diagram":
		return []string{"engine/definition"}, true
	case folder == "workflows":
		return nil, true
	case strings.HasPrefix(folder, "steps/queue/"):
		return append(engine, "steps/queue"), true
	case strings.HasPrefix(folder, "steps/"), strings.HasPrefix(folder, "store/"),
		folder == "engine/admin", folder == "engine/enginetest":
		return engine, true
	case strings.HasPrefix(folder, "internal/"):
		return nil, true
	case folder == "cmd", strings.HasPrefix(folder, "cmd/"), strings.HasPrefix(folder, "bench"):
		return nil, false // wiring: may import all
	}
	return nil, true
}

// homes names the only folder that may import a third-party module.
func homes() map[string]string {
	return map[string]string{
		"gopkg.in/yaml.v3":               "engine/definition",
		"go.yaml.in/yaml":                "engine/definition",
		"github.com/expr-lang/expr":      "engine/expression",
		"github.com/santhosh-tekuri/":    "engine/definition", // its tests
		"modernc.org/sqlite":             "store/sqlitestore",
		"github.com/ydb-platform/":       "store/ydbstore",
		"github.com/aws/":                "steps/queue/sqsqueue",
		"github.com/blevesearch/bleve":   "steps/search",
		"github.com/spf13/":              "cmd",
		"golang.org/x/term":              "cmd",
		"google.golang.org/grpc":         "store/ydbstore",
		"github.com/danielgtaylor/huma/": "engine/admin",
	}
}

// testSupport are the folders that may import testing outside of tests.
func testSupport(folder string) bool {
	return strings.HasPrefix(folder, "internal/") || path.Base(folder) == "storetest" || path.Base(folder) == "enginetest"
}

type file struct {
	folder  string
	name    string
	imports []string
}

func TestImportsPointDown(t *testing.T) {
	for _, f := range sources(t) {
		if strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		allowed, limited := mayImport(f.folder)
		for _, imp := range f.imports {
			ours, isOurs := strings.CutPrefix(imp, module+"/")
			switch {
			case isOurs && limited && !slices.Contains(allowed, ours) && (!testSupport(f.folder) || !strings.HasPrefix(ours, "internal/")):
				t.Errorf("%s: %s must not import %s", f.name, f.folder, ours)
			case isOurs && strings.HasPrefix(ours, "internal/") && !testSupport(f.folder):
				t.Errorf("%s: internal packages are support for tests, and %s is none", f.name, f.folder)
			case imp == "testing" && !testSupport(f.folder):
				t.Errorf("%s: %s is not a test", f.name, f.folder)
			}
		}
	}
}

func TestThirdPartyModulesHaveOneHome(t *testing.T) {
	for _, f := range sources(t) {
		for _, imp := range f.imports {
			for prefix, home := range homes() {
				if !strings.HasPrefix(imp, prefix) || f.folder == home || strings.HasPrefix(f.folder, home+"/") {
					continue
				}
				// A test may open a real database or index beside its package.
				if strings.HasSuffix(f.name, "_test.go") && prefix == "modernc.org/sqlite" {
					continue
				}
				t.Errorf("%s: %s imports %s, whose home is %s", f.name, f.folder, imp, home)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	docs := make(map[string]bool)
	root := root(t)
	for _, f := range sources(t) {
		if strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, f.name), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		docs[f.folder] = docs[f.folder] || parsed.Doc != nil
	}
	for folder, has := range docs {
		if !has {
			t.Errorf("%s has no package comment", folder)
		}
	}
}

// The rules themselves must bite.
func TestRulesRefuseBreaches(t *testing.T) {
	breaches := map[string]string{
		"engine":            "store/sqlitestore",
		"engine/diagram":    "engine",
		"engine/definition": "engine",
		"engine/expression": "engine/definition",
		"steps/git":         "store/sqlitestore",
		"steps/ci":          "steps/git",
		"store/sqlitestore": "steps/queue",
		"store/storetest":   "store/sqlitestore",
		"workflows":         "engine",
	}
	for from, to := range breaches {
		allowed, limited := mayImport(from)
		if !limited || slices.Contains(allowed, to) {
			t.Errorf("the rules let %s import %s", from, to)
		}
	}
}

// sources parses the imports of every Go file of the module. The files are
// read by this process, so that the test cache knows of them.
func sources(t *testing.T) []file {
	t.Helper()
	root := root(t)
	var list []file
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); rel != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "bin") {
				return filepath.SkipDir
			}
			if rel != "." {
				if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
					return filepath.SkipDir // a module of its own
				}
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		list = append(list, file{folder: filepath.ToSlash(filepath.Dir(rel)), name: filepath.ToSlash(rel), imports: paths(t, parsed)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 20 {
		t.Fatalf("only %d Go files found below %s", len(list), root)
	}
	return list
}

func paths(t *testing.T, f *ast.File) []string {
	t.Helper()
	list := make([]string, 0, len(f.Imports))
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
