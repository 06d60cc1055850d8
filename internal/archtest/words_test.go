package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// homeMade are words that no name in the source has, each with what the field says.
var homeMade = map[string]string{
	"sight": "state, probe", "look": "observe, probe", "looks": "polls",
	"nobody": "the noun that is meant", "somebody": "the noun that is meant", "everybody": "all", "whoever": "the noun that is meant",
	"born": "running", "unborn": "not up yet", "living": "running", "takeout": "removal", "letin": "open access",
	"tell": "notify, report", "told": "notified, reported", "chance": "rand, jitter", "maker": "planner, builder, generator",
	"keeper": "the object that has it", "hearsay": "report", "world": "process, sources", "understand": "load", "ahead": "skew",
	"handover": "transfer of ownership", "comingup": "in the order of start",
}

func TestNames(t *testing.T) { report(t, checkNames(sources(t))) }

// checkNames refuses home-made words in the names of files, and in those that
// files outside of tests declare.
func checkNames(all []source) (violations []string) {
	for _, s := range all {
		if s.test || s.generated() {
			continue
		}
		for _, word := range wordsOf(strings.TrimSuffix(path.Base(s.path), ".go")) {
			if instead := homeMade[word]; instead != "" {
				violations = append(violations, fmt.Sprintf("%s: %q is no word of the field: %s", s.path, word, instead))
			}
		}
		for _, name := range namesOf(s.file) {
			for _, word := range wordsOf(name.Name) {
				if instead := homeMade[word]; instead != "" {
					violations = append(violations, fmt.Sprintf("%s: %q in %s is no word of the field: %s", s.line(name), word, name.Name, instead))
				}
			}
		}
	}
	return violations
}

// humps are the words of a name: runs of lower-case letters with the capital before
// them, and runs of capitals.
var humps = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// wordsOf splits a name, and joins each two neighbours besides.
func wordsOf(name string) []string {
	words := humps.FindAllString(name, -1)
	for i := range words {
		words[i] = strings.ToLower(words[i])
	}
	for i := range len(words) - 1 {
		words = append(words, words[i]+words[i+1])
	}
	return words
}

// namesOf are the names that a file declares: functions, types, values, fields,
// parameters and variables.
func namesOf(file *ast.File) (names []*ast.Ident) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = append(names, n.Name)
		case *ast.TypeSpec:
			names = append(names, n.Name)
		case *ast.ValueSpec:
			names = append(names, n.Names...)
		case *ast.Field:
			names = append(names, n.Names...)
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if name, simple := left.(*ast.Ident); simple && n.Tok.String() == ":=" {
					names = append(names, name)
				}
			}
		}
		return true
	})
	return slices.CompactFunc(names, func(a, b *ast.Ident) bool { return a == b })
}

func TestNameRules(t *testing.T) {
	s, err := parse("a/takeout.go", []byte(`package a

type Sight struct{ Tell func() }

func (s Sight) lookAt(told int) {
	nobodysKey, lookup := 1, 2
}
`))
	if err != nil {
		t.Fatal(err)
	}
	ok, err := parse("a/outlook_test.go", []byte("package a\n\nvar nobody = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, checkNames([]source{s, ok}),
		`a/takeout.go: "takeout"`,
		`a/takeout.go:3: "sight" in Sight`,
		`a/takeout.go:3: "tell" in Tell`,
		`a/takeout.go:5: "look" in lookAt`,
		`a/takeout.go:5: "told" in told`)
}
