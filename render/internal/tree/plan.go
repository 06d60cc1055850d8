package tree

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/sorting"
)

// plan is what a write will do, decided before anything is touched.
type plan struct {
	dir     string
	files   []File          // sorted; the lock is one of them
	kept    map[string]bool // of which the data is not known: they stay
	same    []bool          // per file: it lies in the old tree exactly so
	summary Summary

	old     fs.FileInfo // the old tree's directory, nil if there is none
	oldLock []byte
	owned   map[string]bool        // what the old lock names, and the lock
	names   map[string]bool        // paths of files
	parents map[string]bool        // directories of files
	found   map[string]fs.FileMode // directories of the old tree and their permissions
	carried []carried

	written []string // what staging made and did not link: files and directories
}

// carried is something in the old tree that talosgen did not write.
type carried struct {
	path string
	mode fs.FileMode
}

func (p *plan) path(name string) string { return filepath.Join(p.dir, name) }

// makePlan compares the wanted tree with the one on disk. The plan is never
// nil, so that its summary can be returned along with an error.
func makePlan(dir string, files wanted, lock *rendered.Lock) (*plan, error) {
	p := &plan{dir: dir, kept: files.kept, found: map[string]fs.FileMode{}}
	if err := p.want(files.files, lock); err != nil {
		return &plan{}, err
	}
	for _, step := range []func() error{
		p.findOld,
		func() error { return p.readOwned(lock.Talosgen) },
		func() error { return files.still(p.dir, p.oldLock) },
		p.checkParents,
		p.compare,
		p.findRemoved,
	} {
		if err := step(); err != nil {
			return &plan{}, err
		}
	}
	s := &p.summary
	s.Written = slices.Contains(p.same, false) || len(s.Removed) > 0
	if !s.Written || p.old == nil {
		return p, nil
	}
	if err := p.carry(); err != nil {
		return &plan{}, err
	}
	return p, nil
}

// want takes the files, and the lock as the last of them.
func (p *plan) want(files []File, lock *rendered.Lock) error {
	p.files = slices.Clone(files)
	sorting.By(p.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if err := checkOutputs(p.files); err != nil {
		return err
	}
	if !slices.EqualFunc(p.files, lock.Outputs, func(f File, e rendered.Entry) bool { return f.Path == e.Path }) {
		return errors.New("the lock does not name exactly the files of the tree")
	}
	p.files = append(p.files, File{rendered.LockName, lock.Encode()})
	p.parents = parents(p.files)
	p.names = make(map[string]bool, len(p.files))
	for _, f := range p.files {
		p.names[f.Path] = true
	}
	return nil
}

// findOld looks for the old tree. Neither it nor the directory around it may be
// a symbolic link: the exchange would replace the link, or lead out of the
// repository.
func (p *plan) findOld() error {
	for _, dir := range []string{filepath.Dir(p.dir), p.dir} {
		info, err := os.Lstat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return readProblem(dir, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return linkProblem(dir)
		case !info.IsDir():
			return diag.New(diag.Pos{File: dir}, "is not a directory").WithHint("move it away, then render again")
		case dir == p.dir:
			p.old = info
		}
	}
	return nil
}

func linkProblem(dir string) *diag.Problem {
	return diag.New(diag.Pos{File: dir}, "is a symbolic link, through which talosgen does not write").
		WithHint("replace it by a directory")
}

// readOwned reads the old lock. A damaged one (a merge conflict) still tells
// what is talosgen's, and the render repairs it.
func (p *plan) readOwned(current string) error {
	p.owned = map[string]bool{rendered.LockName: true}
	if p.old == nil {
		return nil
	}
	file := p.path(rendered.LockName)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return readProblem(file, err)
	}
	p.oldLock = data
	paths, err := rendered.Owned(file, data, current)
	for _, path := range paths {
		p.owned[path] = true
	}
	return err
}

// checkParents refuses symbolic links among the directories of outputs: they
// could lead out of the tree, and the exchange would not cover what is there.
func (p *plan) checkParents() error {
	var problems diag.List
	for dir := range p.parents {
		if info, err := os.Lstat(p.path(dir)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			problems.Add(linkProblem(p.path(dir)))
		}
	}
	return problems.Err()
}

// compare reads the old tree's files at the paths of the new one.
func (p *plan) compare() error {
	p.same = make([]bool, len(p.files))
	if p.old == nil {
		p.summary.Added = p.outputPaths()
		return nil
	}
	r, err := newReader(p.dir, false)
	if err != nil {
		return readProblem(p.dir, err)
	}
	defer r.close()
	var foreign []string
	for i, f := range p.files {
		if p.same[i] = p.kept[f.Path]; p.same[i] {
			p.summary.Unchanged = append(p.summary.Unchanged, f.Path)
			continue
		}
		data, err := r.read(f.Path)
		list := &p.summary.Changed
		switch {
		case err == nil && bytes.Equal(data, f.Data):
			p.same[i] = true
			list = &p.summary.Unchanged
		case isMissing(err), isDirectory(err): // carry says if the directory has to stay
			list = &p.summary.Added
		case err != nil && !isOddFile(err):
			return readProblem(p.path(f.Path), err)
		case !p.owned[f.Path]:
			foreign = append(foreign, f.Path)
		}
		if f.Path != rendered.LockName {
			*list = append(*list, f.Path)
		}
	}
	return p.foreignProblems(foreign)
}

// foreignProblems refuses to overwrite files that no lock names.
func (p *plan) foreignProblems(paths []string) error {
	if len(paths) > 3 && p.oldLock == nil {
		return diag.New(diag.Pos{File: p.path(rendered.LockName)},
			"is missing, and %d files (%s, …) exist that a render would overwrite", len(paths), paths[0]).
			WithHint("restore it (git checkout -- %s), or remove %s, then render again", p.path(rendered.LockName), p.dir)
	}
	var problems diag.List
	for _, path := range paths {
		problems.Add(p.foreignProblem(path))
	}
	return problems.Err()
}

func (p *plan) foreignProblem(path string) *diag.Problem {
	return diag.New(diag.Pos{File: p.path(path)}, "exists and was not written by talosgen").
		WithHint("a render would write this file; move yours away")
}

func (p *plan) outputPaths() []string {
	paths := make([]string, len(p.files)-1)
	for i := range paths {
		paths[i] = p.files[i].Path
	}
	return paths
}

// findRemoved lists what the old lock names and the new tree does not have.
func (p *plan) findRemoved() error {
	for path := range p.owned {
		if p.names[path] {
			continue
		}
		info, err := os.Lstat(p.path(path))
		switch {
		case err == nil && !info.IsDir(): // a directory there is the user's
			p.summary.Removed = append(p.summary.Removed, path)
		case err != nil && !isMissing(err):
			return readProblem(p.path(path), err)
		}
	}
	slices.Sort(p.summary.Removed)
	return nil
}

// carry lists what stays in the tree though talosgen did not write it, and
// refuses what would be in the way of an output.
func (p *plan) carry() error {
	if err := p.walk(""); err != nil {
		return err
	}
	var problems diag.List
	for _, c := range p.carried {
		if !c.mode.IsDir() && p.parents[c.path] || c.mode.IsDir() && p.names[c.path] {
			problems.Add(p.foreignProblem(c.path))
		}
		for dir := path.Dir(c.path); dir != "."; dir = path.Dir(dir) {
			if p.names[dir] {
				problems.Add(p.foreignProblem(c.path))
			}
		}
	}
	return problems.Err()
}

func (p *plan) walk(dir string) error {
	entries, err := os.ReadDir(p.path(dir))
	if err != nil {
		return readProblem(p.path(dir), err)
	}
	if len(entries) == 0 && dir != "" {
		p.carried = append(p.carried, carried{dir, fs.ModeDir})
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if !e.IsDir() && (p.owned[name] || p.names[name]) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return readProblem(p.path(name), err)
		}
		if !e.IsDir() {
			p.carried = append(p.carried, carried{name, info.Mode()})
			continue
		}
		p.found[name] = info.Mode().Perm()
		if err := p.walk(name); err != nil {
			return err
		}
	}
	return nil
}
