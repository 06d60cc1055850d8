package archtest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of packages into ARCHITECTURE.md, and check the bounds")

// What stands between the marks in ARCHITECTURE.md is written by
// TestPackageTable.
const (
	tablePage  = "../../ARCHITECTURE.md"
	tableBegin = "<!-- measured: go test ./internal/archtest -run TestPackageTable -update -->\n"
	tableEnd   = "<!-- end of what is measured -->\n"
)

// TestPackageTable writes the table of packages with -update, and then holds the
// bounds. Without it, it does nothing: sizes change with every commit, so
// `.ci/run` looks whether what is committed is current.
func TestPackageTable(t *testing.T) {
	if !*update {
		t.Skip("`.ci/run` and -update measure packages")
	}
	measured := measurePackages(sources(t))
	back := backArrows(t, measured)
	report(t, checkBounds(measured, back))
	page, err := os.ReadFile(tablePage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), tableBegin)
	_, after, closed := strings.Cut(rest, tableEnd)
	if !found || !closed {
		t.Fatalf("%s has no marks", tablePage)
	}
	if err := os.WriteFile(tablePage, []byte(before+tableBegin+table(measured, back)+tableEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// table prints measures as Markdown.
func table(measured []measure, back map[string]turns) string {
	var b strings.Builder
	b.WriteString("\n| package | lines | exported | largest receiver | importers | arrows back |\n|---|---:|---:|---|---:|---:|\n")
	for _, m := range measured {
		receiver := ""
		if m.methods > 0 {
			receiver = fmt.Sprintf("`%s`: %d", m.receiver, m.methods)
		}
		arrows := ""
		if turned, known := back[m.dir]; known {
			arrows = fmt.Sprintf("%d of %d", len(turned.back), turned.all)
		}
		fmt.Fprintf(&b, "| `%s` | %d | %d | %s | %d | %s |\n", m.dir, m.lines, m.exported, receiver, m.importers, arrows)
	}
	b.WriteString("\n")
	return b.String()
}

// turns are the arrows between the files of a package, and those of them that run
// back.
type turns struct {
	all  int
	back [][2]string
}

// backArrows looks at the packages of render and apply that have several files.
func backArrows(t *testing.T, measured []measure) map[string]turns {
	t.Helper()
	c, err := newChecker()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]turns{}
	for _, m := range measured {
		if !within(m.dir, "render/...") && !within(m.dir, "apply/...") {
			continue
		}
		set := token.NewFileSet()
		files := map[string]*ast.File{}
		for _, s := range sources(t) {
			if s.dir != m.dir || s.test {
				continue
			}
			if here, err := build.Default.MatchFile("../../"+s.dir, path.Base(s.path)); err != nil || !here {
				continue // of another system
			}
			file, err := parser.ParseFile(set, "../../"+s.path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files[s.path] = file
		}
		found, err := c.arrowsOf(m.dir, files, set)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) > 1 {
			all[m.dir] = turns{found.count(), found.back()}
		}
		for _, arrow := range all[m.dir].back {
			t.Logf("%s: %s runs back to %s", m.dir, arrow[0], arrow[1])
		}
	}
	return all
}
