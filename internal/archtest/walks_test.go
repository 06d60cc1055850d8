package archtest

import (
	"fmt"
	"go/ast"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestWalks looks whether ARCHITECTURE.md has the walks, and each function that they
// name exists.
func TestWalks(t *testing.T) {
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\n## Walks\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	report(t, checkWalks(section, functionsOf(sources(t))))
}

// walkFunction is a function or method of a package, such as apply/plan.Encode.
var walkFunction = regexp.MustCompile("`([a-z]+(?:/[a-z]+)*)\\.([A-Za-z]+(?:\\.[A-Za-z]+)?)`")

// checkWalks wants fifteen paragraphs with at least two functions each.
func checkWalks(section string, known map[string]bool) (violations []string) {
	walks := 0
	for _, line := range strings.Split(section, "\n") {
		if !strings.HasPrefix(line, "- **") {
			continue
		}
		walks++
		title, _, _ := strings.Cut(strings.TrimPrefix(line, "- **"), "**")
		count := 0
		for _, m := range walkFunction.FindAllStringSubmatch(line, -1) {
			if m[2] == "yaml" || m[2] == "env" {
				continue // a file
			}
			if count++; !known[m[1]+"."+m[2]] {
				violations = append(violations, fmt.Sprintf("%s: there is no function %s.%s", title, m[1], m[2]))
			}
		}
		if count < 2 {
			violations = append(violations, title+": names fewer than two functions")
		}
	}
	if walks < 15 {
		violations = append(violations, fmt.Sprintf("%d walks, not fifteen", walks))
	}
	return violations
}

// functionsOf are the functions outside of tests, and methods behind their types.
func functionsOf(all []source) map[string]bool {
	known := map[string]bool{}
	for _, s := range all {
		if s.test {
			continue
		}
		for _, decl := range s.file.Decls {
			f, isFunction := decl.(*ast.FuncDecl)
			switch {
			case !isFunction:
			case f.Recv == nil:
				known[s.dir+"."+f.Name.Name] = true
			default:
				known[s.dir+"."+receiverOf(f)+"."+f.Name.Name] = true
			}
		}
	}
	return known
}

// receiverOf is the name of the type that a method belongs to.
func receiverOf(f *ast.FuncDecl) (name string) {
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, isName := n.(*ast.Ident); isName && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

func TestWalkRules(t *testing.T) {
	s, err := parse("a/b.go", []byte("package a\n\ntype T[P any] struct{}\n\nfunc (t *T[P]) m() {}\n\nfunc F() {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	section := "- **one**: `a.F`, then `a.T.m` and `a.T.n`\n- **two**: `cluster.yaml`\n"
	expect(t, checkWalks(section, functionsOf([]source{s})),
		"one: there is no function a.T.n",
		"two: names fewer than two functions",
		"2 walks, not fifteen")
}
