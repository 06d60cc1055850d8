package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// outside are names that touch the outside: they belong into package main, and
// are passed in.
var outside = []struct {
	pkg    string
	names  []string
	reason string
}{
	{"os", []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv"}, "the environment is passed in"},
	{"os", []string{"Getwd", "Chdir", "UserHomeDir", "UserConfigDir", "UserCacheDir", "Hostname"}, "places are passed in"},
	{"os", []string{"Stdin", "Stdout", "Stderr", "Args"}, "only commands talk to people"},
	{"os", []string{"Exit"}, "only main ends the program"},
	{"log", []string{"Fatal", "Fatalf", "Fatalln", "Print", "Printf", "Println"}, "only commands talk to people"},
	{"time", []string{"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker"}, "the clock is passed in"},
}

// pure are the parts of the module that must do without [outside].
var pure = []string{"apply/internal/access", "apply/summary", "apply/plan/...", "apply/preflight", "render/...", "schemas/...", "internal/..."}

// sleeping makes tests slow, or flaky, or both.
var sleeping = []string{"Sleep"}

// exceptions are uses that have a reason, by file and name.
var exceptions = []struct {
	file, name, reason string
}{
	{"internal/sim/hetznersim/simtest/spec.go", "os.Getenv", "only tests import it: where the description of the API is"},
	{"schemas/internal/gen/main.go", "os.Exit", "a program of its own, run by go generate"},
	{"schemas/internal/gen/main.go", "os.Stderr", "a program of its own, run by go generate"},
}

func TestOutside(t *testing.T) {
	violations, used := checkOutside(sources(t))
	report(t, violations)
	for _, e := range exceptions {
		if !used[e.file+" "+e.name] {
			t.Errorf("%s: the exception for %s is not needed any more", e.file, e.name)
		}
	}
}

// checkOutside also returns which exceptions were used.
func checkOutside(all []source) (violations []string, used map[string]bool) {
	used = map[string]bool{}
	for _, s := range all {
		if !s.test && !withinAny(s.dir, pure) {
			continue
		}
		s.selectors(func(at ast.Node, pkg, name string) {
			reason, found := banned(s.test, pkg, name)
			if !found {
				return
			}
			full := path.Base(pkg) + "." + name
			for _, e := range exceptions {
				if e.file == s.path && e.name == full {
					used[e.file+" "+e.name] = true
					return
				}
			}
			violations = append(violations, fmt.Sprintf("%s: %s: %s", s.line(at), full, reason))
		})
	}
	return violations, used
}

// copied are functions that Go compiles anew for each kind of list, with all that they
// call.
var copied = []string{"SortFunc", "SortStableFunc", "SortedStableFunc"}

// TestCopied: the program sorts by one function (decision 0018).
func TestCopied(t *testing.T) {
	report(t, checkCopied(sources(t)))
}

func checkCopied(all []source) (violations []string) {
	for _, s := range all {
		if s.test || s.dir == "internal/sorting" || within(s.dir, "testenv/...") {
			continue
		}
		s.selectors(func(at ast.Node, pkg, name string) {
			if pkg == "slices" && slices.Contains(copied, name) {
				violations = append(violations, fmt.Sprintf("%s: slices.%s is 15 to 40 kB of the program for each type: use sorting.By", s.line(at), name))
			}
		})
	}
	return violations
}

func TestCopiedRule(t *testing.T) {
	const text = "package p\nimport \"slices\"\nvar f = slices.SortFunc[[]int]\nvar g = slices.Sorted[int]\n"
	expect(t, checkCopied(code(t, map[string]string{
		"internal/p/a.go": text, "internal/p/a_test.go": text, "testenv/bench/a.go": text, "internal/sorting/sorting.go": text,
	})), "internal/p/a.go:3: slices.SortFunc is 15 to 40 kB of the program")
}

func banned(test bool, pkg, name string) (reason string, found bool) {
	if test {
		return "a test that sleeps is slow, or fails on a busy machine", pkg == "time" && slices.Contains(sleeping, name)
	}
	for _, o := range outside {
		if o.pkg == pkg && slices.Contains(o.names, name) {
			return o.reason, true
		}
	}
	return "", false
}

// selectors calls visit with every name that the file takes from an imported
// package.
func (s source) selectors(visit func(at ast.Node, pkg, name string)) {
	packages := map[string]string{}
	for _, spec := range s.file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has refused it
		}
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		packages[name] = imported
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		// An identifier that the parser could resolve is a variable.
		if x, ok := sel.X.(*ast.Ident); ok && x.Obj == nil && packages[x.Name] != "" {
			visit(sel, packages[x.Name], sel.Sel.Name)
		}
		return true
	})
}

func TestOutsideRule(t *testing.T) {
	text := strings.Join([]string{
		"package p",
		`import (`,
		`"os"`,
		`clock "time"`,
		`)`,
		`var now = clock.Now`,
		`func f(time struct{ Now func() }) { time.Now(); os.Getenv("X"); clock.Unix(0, 0) }`,
		`func g() { clock.Sleep(1) }`,
	}, "\n")
	all := code(t, map[string]string{
		"internal/p/a.go":              text,
		"internal/p/a_test.go":         text,
		"cmd/talosgen/a.go":            text,
		"schemas/internal/gen/main.go": "package main\nimport \"os\"\nfunc main() { os.Exit(1); os.Getwd() }\n",
	})
	violations, used := checkOutside(all)
	expect(t, violations,
		"internal/p/a.go:6: time.Now: the clock is passed in",
		"internal/p/a.go:7: os.Getenv: the environment is passed in",
		"internal/p/a.go:8: time.Sleep: the clock is passed in",
		"internal/p/a_test.go:8: time.Sleep: a test that sleeps",
		"schemas/internal/gen/main.go:3: os.Getwd: places are passed in")
	if !used["schemas/internal/gen/main.go os.Exit"] || len(used) != 1 {
		t.Errorf("used exceptions: %v", used)
	}
}
