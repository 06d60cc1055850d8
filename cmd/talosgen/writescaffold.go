package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/scaffold"
)

// writeScaffold writes all files, or none if one of them is there already.
func writeScaffold(dir string, files []scaffold.File) error {
	var there []string
	for _, f := range files {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.Path)))
		switch {
		case errors.Is(err, fs.ErrNotExist): // on Windows ENOTDIR is one of these
		case err == nil, errors.Is(err, syscall.ENOTDIR): // a file is where a directory belongs
			there = append(there, f.Path)
		default:
			return unreadable(filepath.Join(dir, f.Path), err)
		}
	}
	if len(there) > 0 {
		return inTheWay(dir, there)
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return diag.New(diag.Pos{File: path}, "cannot be written: %v", err).WithCause(err)
		}
		if err := atomicfile.Create(path, f.Data, f.Mode); err != nil {
			return diag.New(diag.Pos{File: path}, "cannot be written: %v", err).WithCause(err)
		}
	}
	return nil
}

// inTheWay is the problem that a directory has files that a new repository has
// too.
func inTheWay(dir string, there []string) error {
	const shown = 5
	names := strings.Join(there[:min(len(there), shown)], ", ")
	if more := len(there) - shown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	hint := "start a repository in an empty directory"
	if slices.Contains(there, ".sops.yaml") {
		hint = "is it a repository already? `talosgen env add <env> --like <other>` makes a further environment"
	}
	return diag.New(diag.Pos{File: dir}, "has %s already", names).WithHint("%s", hint)
}
