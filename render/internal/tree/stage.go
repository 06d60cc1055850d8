package tree

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

const (
	filePerm fs.FileMode = 0o644
	dirPerm  fs.FileMode = 0o755
)

// stager builds the new tree in a directory of its own.
type stager struct {
	*plan
	sys  *system
	root string
	made map[string]bool
}

// stage builds the whole new tree at root: changed files are written, all
// others linked from the old tree, which shares them until it is removed.
func (p *plan) stage(sys *system, root string) error {
	s := &stager{plan: p, sys: sys, root: root, made: map[string]bool{".": true}}
	perm := dirPerm
	if p.old != nil {
		perm |= p.old.Mode().Perm()
	}
	if err := s.makeDir(root, perm); err != nil {
		return writeProblem(p.dir, err)
	}
	for i, f := range p.files {
		if err := s.place(f, p.same[i]); err != nil {
			return writeProblem(p.path(f.Path), err)
		}
	}
	for _, c := range p.carried {
		if err := s.carry(c); err != nil {
			return writeProblem(p.path(c.path), err)
		}
	}
	return nil
}

func (s *stager) place(f File, same bool) error {
	if err := s.mkdir(path.Dir(f.Path)); err != nil {
		return err
	}
	to := filepath.Join(s.root, f.Path)
	if same {
		err := s.sys.link(s.path(f.Path), to)
		if !cannotLink(err) {
			return err
		}
	}
	data := f.Data
	if s.kept[f.Path] {
		var err error
		if data, err = os.ReadFile(s.path(f.Path)); err != nil {
			return err
		}
	}
	s.written = append(s.written, to)
	return s.sys.write(to, data, filePerm)
}

// carry takes over something that talosgen did not write.
func (s *stager) carry(c carried) error {
	if c.mode.IsDir() {
		return s.mkdir(c.path)
	}
	if err := s.mkdir(path.Dir(c.path)); err != nil {
		return err
	}
	from, to := s.path(c.path), filepath.Join(s.root, c.path)
	if c.mode&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return s.sys.symlink(target, to)
	}
	err := s.sys.link(from, to)
	if !cannotLink(err) || !c.mode.IsRegular() {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	s.written = append(s.written, to)
	return s.sys.write(to, data, c.mode.Perm())
}

// mkdir makes a directory of the new tree with those above it. One that the
// old tree has keeps its permissions, as far as the owner can still write.
func (s *stager) mkdir(dir string) error {
	if s.made[dir] {
		return nil
	}
	if err := s.mkdir(path.Dir(dir)); err != nil {
		return err
	}
	s.made[dir] = true
	perm, ok := s.found[dir]
	if !ok {
		perm = dirPerm
	}
	return s.makeDir(filepath.Join(s.root, dir), perm|0o700)
}

func (s *stager) makeDir(path string, perm fs.FileMode) error {
	s.written = append(s.written, path)
	return s.sys.mkdir(path, perm)
}

// cannotLink reports whether the file system, or its rules, have no hard links
// for this file, so that it must be copied.
func cannotLink(err error) bool {
	for _, e := range unlinkable {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
