package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// files are the files of a directory by their path in it, with slashes. Links
// are what they say, prefixed with "link to ".
type files map[string]string

// readFiles reads a directory with everything below, except testscript's own
// temporary directory and what git keeps for itself.
func readFiles(dir string) (files, error) {
	out := files{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".tmp" || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		text, err := readEntry(path, d)
		out[filepath.ToSlash(rel)] = text
		return err
	})
	return out, err
}

func readEntry(path string, d fs.DirEntry) (string, error) {
	if d.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		return "link to " + target, err
	}
	data, err := os.ReadFile(path)
	return string(data), err
}

// writeMissing writes the files that a directory does not have.
func (f files) writeMissing(dir string) error {
	for name, text := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if err := writeFile(path, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// diff shows what differs: each file that came, went or changed, and the lines
// that changed. Ciphertexts and digests are not shown, so that the text is the
// same in every run.
func (f files) diff(now files) string {
	names := map[string]bool{}
	for name := range f {
		names[name] = true
	}
	for name := range now {
		names[name] = true
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, was := f[name]
		text, is := now[name]
		switch {
		case !is:
			fmt.Fprintf(&b, "removed %s\n", name)
		case !was:
			fmt.Fprintf(&b, "added %s\n", name)
		case old != text:
			fmt.Fprintf(&b, "changed %s\n", name)
			writeLines(&b, old, text)
		}
	}
	return b.String()
}

// A time of day in a file: whether it changes depends on the clock.
var timestamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:]+Z`)

// Values that differ in every run.
var unstable = regexp.MustCompile(`(ENC\[)[^\]]*(\])|(sha256:)[0-9a-f]{64}()`)

func writeLines(b *strings.Builder, old, text string) {
	before, after := lines(old), lines(text)
	for _, op := range difflib.NewMatcher(before, after).GetOpCodes() {
		if op.Tag == 'e' {
			continue
		}
		for _, line := range before[op.I1:op.I2] {
			fmt.Fprintf(b, "- %s\n", unstable.ReplaceAllString(line, "$1$3...$2"))
		}
		for _, line := range after[op.J1:op.J2] {
			fmt.Fprintf(b, "+ %s\n", unstable.ReplaceAllString(line, "$1$3...$2"))
		}
	}
}

func lines(text string) []string {
	return strings.Split(timestamp.ReplaceAllString(text, "<time>"), "\n")
}

// joined is all files as one text.
func joined(f files) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(&b, "-- %s --\n%s", name, f[name])
	}
	return b.String()
}
