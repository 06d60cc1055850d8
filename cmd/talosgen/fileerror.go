package main

import (
	"errors"
	"io/fs"

	"github.com/talosgen/talosgen/internal/diag"
)

// unreadable says that a file that the command line names cannot be read.
func unreadable(file string, err error) error {
	return diag.New(diag.Pos{File: file}, "cannot be read: %v", reasonOf(err)).WithCause(err)
}

// reasonOf is an error without its path, for a problem that has it.
func reasonOf(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
