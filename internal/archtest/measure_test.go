package archtest

import (
	"cmp"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// measure is what a package is like, tests and generated files apart.
type measure struct {
	dir       string
	lines     int
	exported  int    // names of types, functions, constants and variables
	receiver  string // the type with the most methods, and how many it has
	methods   int
	importers int // packages that import it, tests apart
}

// measurePackages measures each package, sorted by its directory.
func measurePackages(all []source) []measure {
	byDir := map[string]*measure{}
	methods := map[string]map[string]int{}
	importers := map[string]map[string]bool{}
	for _, s := range all {
		if s.test || s.generated() || within(s.dir, "testenv/...") {
			continue
		}
		m := byDir[s.dir]
		if m == nil {
			m = &measure{dir: s.dir}
			byDir[s.dir], methods[s.dir] = m, map[string]int{}
		}
		m.lines += s.set.File(s.file.Pos()).LineCount()
		m.exported += exportedNames(s.file)
		countMethods(s.file, methods[s.dir])
		s.imports(func(_ *ast.ImportSpec, imported string) {
			if importers[imported] == nil {
				importers[imported] = map[string]bool{}
			}
			importers[imported][s.dir] = true
		})
	}
	var list []measure
	for dir, m := range byDir {
		m.receiver, m.methods = largest(methods[dir])
		m.importers = len(importers[dir])
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b measure) int { return strings.Compare(a.dir, b.dir) })
	return list
}

// exportedNames counts what `go doc` lists: methods and fields do not count.
func exportedNames(file *ast.File) (n int) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				n++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				for _, name := range declared(spec) {
					if name.IsExported() {
						n++
					}
				}
			}
		}
	}
	return n
}

// declared are the names that a declaration outside of functions gives.
func declared(spec ast.Spec) []*ast.Ident {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{s.Name}
	case *ast.ValueSpec:
		return s.Names
	}
	return nil
}

// countMethods adds the methods of a file to those of each type.
func countMethods(file *ast.File, of map[string]int) {
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.FuncDecl); ok && d.Recv != nil {
			of[receiverType(d)]++
		}
	}
}

// receiverType names the type that a method belongs to.
func receiverType(d *ast.FuncDecl) string {
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// largest is the type with the most methods; the first by name of several.
func largest(of map[string]int) (receiver string, methods int) {
	for name, n := range of {
		if n > methods || n == methods && cmp.Compare(name, receiver) < 0 {
			receiver, methods = name, n
		}
	}
	return receiver, methods
}

func TestMeasureRules(t *testing.T) {
	all := code(t, map[string]string{
		"a/a.go":      "package a\nimport _ \"" + module + "/b\"\nconst A, b = 1, 2\ntype C[T any] struct{}\nfunc (c *C[T]) D() {}\nfunc (c C[T]) e() {}\nfunc F() {}\n",
		"a/a_test.go": "package a\nfunc (c *C[T]) g() {}\n",
		"b/b.go":      "package b\ntype d int\nfunc (d) m() {}\n",
		"c/c_test.go": "package c\nimport _ \"" + module + "/b\"\n",
	})
	want := []measure{{dir: "a", lines: 7, exported: 3, receiver: "C", methods: 2}, {dir: "b", lines: 3, receiver: "d", methods: 1, importers: 1}}
	if got := measurePackages(all); !slices.Equal(got, want) {
		t.Errorf("measured %+v, not %+v", got, want)
	}
}
