package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/talosgen/talosgen/internal/diag"
)

// staging is the directory beside a tree in which its successor is built:
//
//	.gitignore  keeps all of it out of git status; made first, removed last
//	tree/       the new tree; after an exchange, the old one
//
// and, where the file system cannot exchange two directories:
//
//	complete    says that tree/ is complete
//	replacing   says that the old tree is being removed where it is
//	old/        the old tree, moved away
//
// It exists only while a write runs, or after one was killed. Its lock is held
// by the one run that may change the tree.
type staging struct {
	sys  *system
	dir  string // the tree in its place
	path string
	held held
}

func (s *staging) tree() string      { return filepath.Join(s.path, "tree") }
func (s *staging) old() string       { return filepath.Join(s.path, "old") }
func (s *staging) complete() string  { return filepath.Join(s.path, "complete") }
func (s *staging) replacing() string { return filepath.Join(s.path, "replacing") }
func (s *staging) ignore() string    { return filepath.Join(s.path, ".gitignore") }

// newStaging only names the directory: rendered/.talosgen-<env> for rendered/<env>.
func newStaging(sys *system, dir string) *staging {
	return &staging{sys: sys, dir: dir, path: filepath.Join(filepath.Dir(dir), ".talosgen-"+filepath.Base(dir))}
}

// Recover settles what a killed write of the tree in dir has left: a complete
// new tree whose old one is already out of the way is put in place, everything
// else is removed. It does nothing if a write is under way.
func Recover(dir string) error { return recoverTree(realSystem, filepath.Clean(dir)) }

func recoverTree(sys *system, dir string) error {
	s := newStaging(sys, dir)
	err := s.lock(false)
	if isMissing(err) || errors.Is(err, errHeld) {
		return nil
	}
	if err == nil {
		err = s.settle()
		s.held.release()
	}
	if err != nil {
		return leftoverProblem(s.path, err)
	}
	return nil
}

// openStaging makes the staging directory and takes its lock. It is empty but
// for .gitignore afterwards.
func openStaging(sys *system, dir string) (*staging, error) {
	s := newStaging(sys, dir)
	if err := s.makeParent(); err != nil {
		return nil, writeProblem(dir, err)
	}
	err := s.lock(true)
	if errors.Is(err, errHeld) {
		return nil, diag.On("environment "+filepath.Base(dir), "another talosgen is writing it").
			WithCode(diag.Conflict).WithCause(err).
			WithHint("wait until that run has ended, then render again")
	}
	if err != nil {
		return nil, writeProblem(s.path, err)
	}
	if err := s.prepare(); err != nil {
		s.held.release()
		return nil, err
	}
	return s, nil
}

// makeParent makes the directory that holds the trees.
func (s *staging) makeParent() error {
	parent := filepath.Dir(s.dir)
	if _, err := os.Lstat(parent); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.sys.mkdir(parent, dirPerm)
}

var (
	// errHeld says that another run has the lock.
	errHeld = errors.New("the tree is being written")
	// errGone says that others made the directory, and removed it, again and again.
	errGone = errors.New("the directory is made and removed all the time")
)

// lock opens the directory, with create also makes it, and takes its lock. The
// holder of the lock removes the directory when it is done, so the one that
// was opened may be gone by the time its lock is taken: then it tries again.
func (s *staging) lock(create bool) error {
	err := error(errGone)
	for range 100 {
		if err = s.open(create); err == nil && s.held.isCurrent(s.path) {
			return nil
		}
		switch {
		case err == nil:
			s.held.release()
			err = errGone
		case !create || !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return err
}

func (s *staging) open(create bool) (err error) {
	if create {
		if err := s.sys.mkdir(s.path, dirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	s.held, err = hold(s.path)
	return err
}

// prepare settles leftovers and hides the directory from git.
func (s *staging) prepare() error {
	if err := s.empty(); err != nil {
		return leftoverProblem(s.path, err)
	}
	if err := s.sys.write(s.ignore(), []byte("*\n"), filePerm); err != nil {
		_ = s.settle()
		return writeProblem(s.dir, err)
	}
	return nil
}

func leftoverProblem(path string, err error) error {
	return diag.New(diag.Pos{File: path}, "the exchange of the tree was interrupted, and cannot be completed: %v", bare(err)).
		WithHint("check permissions and free space, then render again: that settles it").WithCause(err)
}

// close ends a write: it removes the old tree, or what was staged, and the
// directory itself. What cannot be removed is left to the next run, which
// reports it: by now the tree is in place, or the write has an error to report.
func (s *staging) close() {
	_ = s.settle()
	s.held.release()
}

// settle brings the tree into a whole state and removes the staging directory.
func (s *staging) settle() error {
	if err := s.empty(); err != nil {
		return err
	}
	return s.sys.removeAll(s.path)
}

// empty rolls an interrupted replacement forward and removes everything that
// a write puts into the staging directory: the notes first, so that a tree that
// is removed in part is never taken for a complete one.
func (s *staging) empty() error {
	if s.isHalfReplaced() {
		if err := s.rollForward(); err != nil {
			return err
		}
		if err := s.sys.sync(filepath.Dir(s.dir)); err != nil {
			return err
		}
	}
	for _, path := range []string{s.complete(), s.replacing(), s.tree(), s.old(), s.ignore()} {
		if err := s.sys.removeAll(path); err != nil {
			return err
		}
	}
	return nil
}
