package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// buildReleases makes the site of every release that is tagged. A release from before
// the documentation had a map has none.
func buildReleases(repository, out string) error {
	tags, err := git(repository, "tag", "--list", "v*")
	if err != nil {
		return err
	}
	for tag := range strings.FieldsSeq(string(tags)) {
		if _, err := git(repository, "cat-file", "-e", tag+":docs/README.md"); err != nil {
			fmt.Fprintf(os.Stderr, "site: %s has no docs/README.md: it is left out\n", tag)
			continue
		}
		if err := buildRelease(repository, out, tag); err != nil {
			return err
		}
	}
	return nil
}

// buildRelease makes the site of a release from its own files.
func buildRelease(repository, out, tag string) (err error) {
	dir, err := os.MkdirTemp("", "talosgen-site-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	archive, err := git(repository, "archive", "--format=tar", tag)
	if err != nil {
		return err
	}
	if err := unpack(dir, bytes.NewReader(archive)); err != nil {
		return err
	}
	return build(dir, out, strings.TrimPrefix(tag, "v"), tag)
}

// unpack writes the files of an archive. Links to other files are not followed, as no
// page needs them.
func unpack(dir string, archive io.Reader) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(h.Name)), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(filepath.FromSlash(h.Name), data, 0o644); err != nil {
			return err
		}
	}
}

func git(repository string, args ...string) ([]byte, error) {
	command := exec.Command("git", append([]string{"-C", repository}, args...)...)
	var failed bytes.Buffer
	command.Stderr = &failed
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(failed.String()))
	}
	return output, nil
}
