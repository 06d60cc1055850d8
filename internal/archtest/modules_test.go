package archtest

import (
	"fmt"
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// required is a line of go.mod: a module, and whether only others need it.
var required = regexp.MustCompile(`(?m)^\t(\S+) v\S+( // indirect)?$`)

// TestModules keeps the two lists of go.mod apart, as `go mod tidy` would: the modules
// that talosgen imports itself, and the others.
func TestModules(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkModules(string(text), sources(t)))
}

func checkModules(text string, all []source) (violations []string) {
	indirect, used := map[string]bool{}, map[string]string{}
	for _, m := range required.FindAllStringSubmatch(text, -1) {
		indirect[m[1]] = m[2] != ""
	}
	for _, s := range all {
		s.imports(func(spec *ast.ImportSpec, imported string) {
			if m := moduleOf(indirect, imported); m != "" && used[m] == "" {
				used[m] = s.line(spec)
			}
		})
	}
	for m, marked := range indirect {
		switch at := used[m]; {
		case marked && at != "":
			violations = append(violations, fmt.Sprintf("%s: imports %s, which go.mod calls indirect; run `go mod tidy`", at, m))
		case !marked && at == "":
			violations = append(violations, fmt.Sprintf("go.mod: nothing imports %s; run `go mod tidy`", m))
		}
	}
	slices.Sort(violations)
	return violations
}

// moduleOf is the module that a package is of: the one with the longest path.
func moduleOf(modules map[string]bool, imported string) (found string) {
	for m := range modules {
		if (imported == m || strings.HasPrefix(imported, m+"/")) && len(m) > len(found) {
			found = m
		}
	}
	return found
}

func TestModuleRules(t *testing.T) {
	const text = "require (\n\texample.org/a v1.0.0\n\texample.org/b v1.0.0\n\texample.org/b/v2 v2.0.0 // indirect\n\texample.org/c v1.0.0 // indirect\n)\n"
	expect(t, checkModules(text, code(t, map[string]string{"x/x.go": "package x\nimport (\n_ \"example.org/a/p\"\n_ \"example.org/b/v2\"\n_ \"fmt\"\n)\n"})),
		"go.mod: nothing imports example.org/b; ",
		"x/x.go:4: imports example.org/b/v2, which go.mod calls indirect; ")
}
