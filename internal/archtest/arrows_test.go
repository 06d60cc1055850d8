package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// arrows are which files of a package use what others of it declare: arrow[a][b]
// if a uses b. Files of a package can use each other in circles, packages cannot.
type arrows map[string]map[string]bool

func (a arrows) add(from, to string) {
	if a[from] == nil {
		a[from] = map[string]bool{}
	}
	if from != to {
		a[from][to] = true
	}
}

func (a arrows) count() (n int) {
	for _, to := range a {
		n += len(to)
	}
	return n
}

// back are the arrows that run back: those against the files' order of
// dependency. Where files use each other in no circle there is an order that no
// arrow runs against. Else the order is that of Eades, Lin and Smyth: again and
// again what uses nothing that is left goes to the end, what nothing left uses to
// the beginning, and of others the one that uses most, for how much it is used.
func (a arrows) back() (list [][2]string) {
	place := map[string]int{}
	for i, file := range a.order() {
		place[file] = i
	}
	for from, all := range a {
		for to := range all {
			if place[to] < place[from] {
				list = append(list, [2]string{from, to})
			}
		}
	}
	slices.SortFunc(list, func(x, y [2]string) int { return slices.Compare(x[:], y[:]) })
	return list
}

func (a arrows) order() []string {
	left := map[string]bool{}
	for from, all := range a {
		left[from] = true
		for to := range all {
			left[to] = true
		}
	}
	var first, last []string
	for len(left) > 0 {
		file, uses, used := a.next(left)
		delete(left, file)
		if uses == 0 && used > 0 {
			last = append(last, file)
			continue
		}
		first = append(first, file)
	}
	slices.Reverse(last)
	return append(first, last...)
}

// next is the file to place, and how many of those left it uses and is used by.
func (a arrows) next(left map[string]bool) (best string, uses, used int) {
	files := make([]string, 0, len(left))
	for file := range left {
		files = append(files, file)
	}
	slices.Sort(files)
	score := func(uses, used int) int {
		if uses == 0 || used == 0 {
			return 1 << 20 // no arrow runs against it, wherever the others go
		}
		return uses - used
	}
	for _, file := range files {
		out, in := 0, 0
		for other := range left {
			if a[file][other] {
				out++
			}
			if a[other][file] {
				in++
			}
		}
		if best == "" || score(out, in) > score(uses, used) {
			best, uses, used = file, out, in
		}
	}
	return best, uses, used
}

// checker finds out what identifiers mean, with the export data of the compiler
// for what is imported.
type checker struct {
	exports map[string]string // files, by the paths of packages
}

func newChecker() (*checker, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", "./render/...", "./apply/...")
	list.Dir = "../.."
	text, err := list.Output()
	if err != nil {
		return nil, err
	}
	c := &checker{exports: map[string]string{}}
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return c, nil
		} else if err != nil {
			return nil, err
		}
		c.exports[p.ImportPath] = p.Export
	}
}

func (c *checker) lookup(p string) (io.ReadCloser, error) {
	if c.exports[p] == "" {
		return nil, fmt.Errorf("package %s was not compiled", p)
	}
	return os.Open(c.exports[p])
}

// arrowsOf are those between the files of a package, tests apart.
func (c *checker) arrowsOf(dir string, files map[string]*ast.File, set *token.FileSet) (arrows, error) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(set, "gc", c.lookup)}
	pkg, err := config.Check(module+"/"+dir, set, sortedFiles(files), info)
	if err != nil {
		return nil, err
	}
	all := arrows{}
	for id, object := range info.Uses {
		if object.Pkg() == pkg && (object.Parent() == pkg.Scope() || object.Parent() == nil) {
			all.add(fileAt(set, id.Pos()), fileAt(set, object.Pos()))
		}
	}
	return all, nil
}

func fileAt(set *token.FileSet, pos token.Pos) string { return path.Base(set.Position(pos).Filename) }

func sortedFiles(files map[string]*ast.File) []*ast.File {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	list := make([]*ast.File, len(names))
	for i, name := range names {
		list[i] = files[name]
	}
	return list
}

func TestArrowRules(t *testing.T) {
	a := arrows{}
	for _, arrow := range []string{"run plan", "run print", "plan types", "print types", "types print", "plan run"} {
		from, to, _ := strings.Cut(arrow, " ")
		a.add(from, to)
	}
	if got := fmt.Sprint(a.count(), a.back()); got != "6 [[run plan] [types print]]" {
		t.Errorf("got %s", got)
	}
	a = arrows{}
	a.add("b", "a")
	a.add("c", "b")
	a.add("c", "a")
	if got := a.back(); len(got) > 0 {
		t.Errorf("%v run back where no files use each other in a circle", got)
	}
}
