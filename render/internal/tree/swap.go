package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/talosgen/talosgen/internal/diag"
)

// swap puts the staged tree in place of the old one.
func (s *staging) swap(first bool) error {
	if err := s.replace(first); err != nil {
		if s.isHalfReplaced() {
			return leftoverProblem(s.dir, err)
		}
		return writeProblem(s.dir, err)
	}
	for _, dir := range []string{filepath.Dir(s.dir), s.path} {
		if err := s.sys.sync(dir); err != nil {
			return diag.New(diag.Pos{File: s.dir}, "was written, but may not outlast a power failure: %v", bare(err)).
				WithHint("check the disk, then render again").WithCause(err)
		}
	}
	return nil
}

func (s *staging) replace(first bool) error {
	if first {
		return s.sys.rename(s.tree(), s.dir)
	}
	err := s.sys.exchange(s.tree(), s.dir)
	for _, unsupported := range unexchangeable {
		if errors.Is(err, unsupported) {
			return s.replaceInSteps()
		}
	}
	return err
}

// replaceInSteps is for file systems that cannot exchange. Between its steps
// there is no tree, or half of one; the notes tell [Recover] how to go on.
func (s *staging) replaceInSteps() error {
	if err := s.note(s.complete()); err != nil {
		return err
	}
	err := s.sys.rename(s.dir, s.old())
	if errors.Is(err, errOtherDevice) {
		// A directory in a lower layer of an overlay (the image of a container)
		// can be removed, but not renamed.
		return s.replaceInPlace()
	}
	if err != nil {
		return err
	}
	err = s.sys.rename(s.tree(), s.dir)
	if err != nil {
		// If this fails too, settle does the second rename, now or in the next run.
		_ = s.sys.rename(s.old(), s.dir)
	}
	return err
}

func (s *staging) replaceInPlace() error {
	if err := s.note(s.replacing()); err != nil {
		return err
	}
	return s.rollForward()
}

// note writes an empty file and makes it last before the next step.
func (s *staging) note(path string) error {
	if err := s.sys.write(path, nil, filePerm); err != nil {
		return err
	}
	if err := s.sys.sync(path); err != nil {
		return err
	}
	return s.sys.sync(s.path)
}

// isHalfReplaced reports whether a replacement in steps stopped between them.
// Otherwise a tree in its place is whole, and stays: newer work than what was
// staged may be in it.
func (s *staging) isHalfReplaced() bool {
	_, err := os.Lstat(s.dir)
	gone := errors.Is(err, fs.ErrNotExist)
	return exists(s.complete()) && exists(s.tree()) && (gone || exists(s.replacing()))
}

// exists errs on the side of no, with which nothing is replaced.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// rollForward does what is left of a replacement in steps.
func (s *staging) rollForward() error {
	if err := s.sys.removeAll(s.dir); err != nil {
		return err
	}
	return s.sys.rename(s.tree(), s.dir)
}
