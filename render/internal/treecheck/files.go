package treecheck

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// files are the manifests of a repository, read when they are asked for, once.
type files struct {
	fs     fs.FS
	read   map[string][]manifest.Located
	failed map[string]bool // problems of these are known
	// The plain texts, for what is no object.
	texts map[string][]byte
	lines map[string][]string // of those that were asked for
}

func newFiles(in fs.FS) *files {
	return &files{fs: in, read: map[string][]manifest.Located{}, failed: map[string]bool{}, texts: map[string][]byte{}, lines: map[string][]string{}}
}

// objects reads the objects of a file.
func (f *files) objects(file string) ([]manifest.Located, error) {
	if objects, done := f.read[file]; done || f.failed[file] {
		return objects, nil
	}
	text, err := f.text(file)
	if err == nil {
		f.read[file], err = manifest.LocateAny(file, text)
	}
	f.failed[file] = err != nil
	return f.read[file], err
}

func (f *files) text(file string) ([]byte, error) {
	if text, done := f.texts[file]; done {
		return text, nil
	}
	text, err := fs.ReadFile(f.fs, file)
	if err != nil {
		return nil, diag.New(diag.Pos{File: file}, "cannot be read").WithCause(err)
	}
	f.texts[file] = text
	return text, nil
}

// line is a line of a file, from 1; empty if there is none.
func (f *files) line(file string, number int) string {
	lines, split := f.lines[file]
	if !split {
		text, _ := f.text(file) // whoever reads its objects says that it cannot be read
		lines = strings.Split(string(text), "\n")
		f.lines[file] = lines
	}
	if number < 1 || number > len(lines) {
		return ""
	}
	return lines[number-1]
}

// below lists the files with manifests in a directory and below, sorted.
// Directories that skip tells of are left out.
func (f *files) below(dir string, skip func(dir string) bool) (names []string, err error) {
	all, err := f.everything(dir, skip)
	for _, name := range all {
		if isManifest(name) {
			names = append(names, name)
		}
	}
	return names, err
}

// everything lists the files in a directory and below, sorted. What is hidden
// is left out, and directories that one of skip tells of.
func (f *files) everything(dir string, skip ...func(dir string) bool) (names []string, err error) {
	err = fs.WalkDir(f.fs, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return diag.New(diag.Pos{File: name}, "cannot be read").WithCause(err)
		}
		hidden := name != dir && strings.HasPrefix(e.Name(), ".")
		if !e.IsDir() {
			if !hidden {
				names = append(names, name)
			}
			return nil
		}
		if hidden || name != dir && slices.ContainsFunc(skip, func(s func(string) bool) bool { return s != nil && s(name) }) {
			return fs.SkipDir
		}
		return nil
	})
	return names, err
}

func (f *files) isDir(name string) bool {
	info, err := fs.Stat(f.fs, name)
	return err == nil && info.IsDir()
}

func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) && !isKustomization(name)
}

// kustomizations are the names under which kustomize looks for its file.
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

func isKustomization(name string) bool { return slices.Contains(kustomizations, path.Base(name)) }
