package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"iter"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestDocComments(t *testing.T)     { report(t, checkDocComments(sources(t))) }
func TestCommentNames(t *testing.T)    { report(t, checkCommentNames(sources(t))) }
func TestPackageComments(t *testing.T) { report(t, checkPackageComments(sources(t))) }
func TestLeftovers(t *testing.T)       { report(t, checkLeftovers(sources(t))) }

// checkDocComments wants a comment on every exported name outside of tests. The
// comment of a group of constants or variables counts for each of them.
func checkDocComments(all []source) (violations []string) {
	for _, s := range all {
		if s.test || s.generated() {
			continue
		}
		fail := func(name *ast.Ident) {
			violations = append(violations, fmt.Sprintf("%s: exported %s has no comment", s.line(name), name.Name))
		}
		for _, decl := range s.file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
					fail(d.Name)
				}
			case *ast.GenDecl:
				for _, name := range uncommented(d) {
					fail(name)
				}
			}
		}
	}
	return violations
}

// exportedReceiver reports whether a function is one of the package, or a
// method that others can call by its type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	name, found := "", false
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !found {
			name, found = id.Name, true
		}
		return !found
	})
	return token.IsExported(name)
}

// uncommented returns the exported names of a declaration that no comment is
// about.
func uncommented(d *ast.GenDecl) (names []*ast.Ident) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() && spec.Doc == nil && (d.Doc == nil || d.Lparen.IsValid()) {
				names = append(names, spec.Name)
			}
		case *ast.ValueSpec:
			if spec.Doc != nil || spec.Comment != nil || d.Doc != nil {
				continue
			}
			for _, name := range spec.Names {
				if name.IsExported() {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// checkCommentNames wants the comment on a function or a type to begin with its name.
func checkCommentNames(all []source) (violations []string) {
	for _, s := range all {
		if s.test || s.generated() {
			continue
		}
		for _, decl := range s.file.Decls {
			for name, doc := range commented(decl) {
				if !begins(doc.Text(), name.Name) {
					violations = append(violations, fmt.Sprintf("%s: the comment on %s begins with another name", s.line(name), name.Name))
				}
			}
		}
	}
	return violations
}

// commented yields the functions and types of a declaration that have a comment.
func commented(decl ast.Decl) iter.Seq2[*ast.Ident, *ast.CommentGroup] {
	return func(yield func(*ast.Ident, *ast.CommentGroup) bool) {
		if d, ok := decl.(*ast.FuncDecl); ok && d.Doc != nil && d.Name.Name != "init" {
			yield(d.Name, d.Doc)
		}
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE {
			return
		}
		for _, spec := range d.Specs {
			spec := spec.(*ast.TypeSpec)
			doc := spec.Doc
			if doc == nil && !d.Lparen.IsValid() {
				doc = d.Doc
			}
			if doc != nil && !yield(spec.Name, doc) {
				return
			}
		}
	}
}

// An article may stand before the name, and no letter after it.
var (
	article = regexp.MustCompile(`^(An?|The) `)
	longer  = regexp.MustCompile(`^\w`)
)

// begins reports whether a comment is about a name. One with nothing but directives for
// the compiler has no text.
func begins(text, name string) bool {
	rest, found := strings.CutPrefix(article.ReplaceAllString(text, ""), name)
	return text == "" || found && !longer.MatchString(rest)
}

// checkPackageComments wants every package to say, once, what it owns.
func checkPackageComments(all []source) (violations []string) {
	comments, order := map[string]int{}, []string{}
	for _, s := range all {
		if s.test {
			continue
		}
		if !slices.Contains(order, s.dir) {
			order = append(order, s.dir)
		}
		if s.file.Doc != nil {
			comments[s.dir]++
		}
	}
	for _, dir := range order {
		if n := comments[dir]; n != 1 {
			violations = append(violations, fmt.Sprintf("%s: the package has %d comments that say what it owns, not one", dir, n))
		}
	}
	return violations
}

// leftover marks work that somebody meant to come back to.
var leftover = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

// checkLeftovers wants such work in the tracker.
func checkLeftovers(all []source) (violations []string) {
	for _, s := range all {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				if mark := leftover.FindString(c.Text); mark != "" && s.dir != "internal/archtest" {
					violations = append(violations, fmt.Sprintf("%s: %s: do it, or file an issue", s.line(c), mark))
				}
			}
		}
	}
	return violations
}

func TestCommentRules(t *testing.T) {
	all := code(t, map[string]string{
		"a/a.go": `// Package a is here.
package a

type T struct{}

func (T) M() {}
func (*T) m() {}
func (u) N() {}
func (*G[K]) N() {}

type u struct{}

// G is generic.
type G[K any] struct{}

// A group counts for constants.
const (
	A = 1
	B = 2
)

// A group does not count for types.
type (
	X int
	// Y is explained.
	Y int
)

var (
	C = 1 // explained
	D = 2
	e = 3
)

func F() {} // TODO
`,
		"a/a_test.go": "package a\n\nfunc Exported() {} // FIXME later\n",
		"b/b.go":      "package b\n",
		"c/c.go":      "// Package c.\npackage c\n",
		"c/d.go":      "// Package c again.\npackage c\n",
		"d/d.go":      "// Code generated by x. DO NOT EDIT.\n\n// Package d.\npackage d\n\nfunc F() {}\n",
	})
	expect(t, checkDocComments(all),
		"a/a.go:4: exported T has no comment",
		"a/a.go:6: exported M has no comment",
		"a/a.go:9: exported N has no comment",
		"a/a.go:24: exported X has no comment",
		"a/a.go:31: exported D has no comment",
		"a/a.go:35: exported F has no comment")
	expect(t, checkCommentNames(code(t, map[string]string{
		"a/a.go": `// Package a is here.
package a

// Old is what F was called.
func F() {}

// T's letter counts.
type T struct{}

// A U has an article.
type U struct{}

// Many is another word than M.
func (T) M() {}

type (
	// Y is another type.
	X int
	Y int
)

//go:noinline
func G() {}

// At the beginning.
func init() {}
`,
		"a/a_test.go": "package a\n\n// Tests say what they show.\nfunc TestX() {}\n",
	})),
		"a/a.go:5: the comment on F begins with another name",
		"a/a.go:14: the comment on M begins with another name",
		"a/a.go:18: the comment on X begins with another name")
	expect(t, checkPackageComments(all),
		"b: the package has 0 comments",
		"c: the package has 2 comments")
	expect(t, checkLeftovers(all), "a/a.go:35: TODO", "a/a_test.go:3: FIXME")
}
