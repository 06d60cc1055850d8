package archtest

import (
	"fmt"
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
	"sync"
	"testing"
)

// module is the path of the module that the rules are about.
const module = "github.com/talosgen/talosgen"

// source is a parsed Go file.
type source struct {
	path string // with slashes, from the root of the repository
	dir  string // of its package, the same way
	test bool
	set  *token.FileSet
	file *ast.File
}

func parse(name string, text []byte) (source, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments)
	return source{path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), set: set, file: file}, err
}

// line says where a node is, for a message.
func (s source) line(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.set.Position(n.Pos()).Line)
}

// generated reports whether a program wrote the file.
func (s source) generated() bool { return ast.IsGenerated(s.file) }

// imports calls visit with each import: of this module as a path from the
// root, of others as written.
func (s source) imports(visit func(spec *ast.ImportSpec, imported string)) {
	for _, spec := range s.file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has refused it
		}
		visit(spec, strings.TrimPrefix(imported, module+"/"))
	}
}

// tree parses every Go file of the module, once for all tests.
var tree = sync.OnceValues(func() ([]source, error) {
	const root = "../.."
	var all []source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && (skipped(rel) || otherModule(name)) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		s, err := parse(rel, text)
		all = append(all, s)
		return err
	})
	return all, err
})

// skipped reports whether a directory holds no code of the module: test data,
// and at the root what is rendered or built.
func skipped(dir string) bool {
	name := path.Base(dir)
	return strings.HasPrefix(name, ".") || name == "testdata" || slices.Contains([]string{"rendered", "bin", "dist"}, dir)
}

func otherModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func sources(t *testing.T) []source {
	t.Helper()
	all, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files: this looks at the wrong directory", len(all))
	}
	return all
}

// code parses texts in the place of files, to test the rules themselves.
func code(t *testing.T, files map[string]string) []source {
	t.Helper()
	var all []source
	for name, text := range files {
		s, err := parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b source) int { return strings.Compare(a.path, b.path) })
	return all
}

// within reports whether a package or file matches a pattern: itself, or with
// /... at the end everything below too, as the go command has it.
func within(name, pattern string) bool {
	dir, below := strings.CutSuffix(pattern, "/...")
	return name == dir || below && strings.HasPrefix(name, dir+"/")
}

func withinAny(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return within(name, p) })
}

// report fails a test with each violation.
func report(t *testing.T, violations []string) {
	t.Helper()
	for _, v := range violations {
		t.Error(v)
	}
}

// expect compares the violations in a text with those that are wanted.
func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d violations, not %d: %q", len(got), len(want), got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%q does not begin with %q", got[i], want[i])
		}
	}
}

func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		name, pattern string
		want          bool
	}{
		{"render", "render", true},
		{"render/internal/tree", "render", false},
		{"render", "render/...", true},
		{"render/internal/tree", "render/...", true},
		{"rendered", "render/...", false},
	} {
		if within(tt.name, tt.pattern) != tt.want {
			t.Errorf("%s within %s: %v", tt.name, tt.pattern, !tt.want)
		}
	}
}
