package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// mostMethods bounds the methods of a type, by folder: an object with more is
// several.
var mostMethods = map[string]int{"cmd/talosgen": 20}

func TestMethods(t *testing.T) { report(t, checkMethods(sources(t))) }

// checkMethods counts the methods of each type, but for tests.
func checkMethods(all []source) (violations []string) {
	count := map[string]int{}
	for _, s := range all {
		if mostMethods[s.dir] == 0 || s.test {
			continue
		}
		for _, decl := range s.file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && d.Recv != nil {
				count[s.dir+": "+receiverName(d)]++
			}
		}
	}
	for of, n := range count {
		dir, _, _ := strings.Cut(of, ":")
		if limit := mostMethods[dir]; n > limit {
			violations = append(violations, fmt.Sprintf("%s has %d methods, more than %d", of, n, limit))
		}
	}
	slices.Sort(violations)
	return violations
}

// receiverName is the type that a method is of.
func receiverName(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

func TestMethodRules(t *testing.T) {
	method := "func (a *t) f() {}\n"
	all := code(t, map[string]string{
		"cmd/talosgen/a.go":      "package main\n" + strings.Repeat(method, 12),
		"cmd/talosgen/b.go":      "package main\n" + strings.Repeat(method, 9) + "func (b u) f() {}\n",
		"cmd/talosgen/c_test.go": "package main\n" + strings.Repeat("func (b u) f() {}\n", 30),
		"apply/a.go":             "package apply\n" + strings.Repeat(method, 30),
	})
	expect(t, checkMethods(all), "cmd/talosgen: t has 21 methods, more than 20")
}
