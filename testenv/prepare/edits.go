package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// edit is a change to a published module that a tool does not build without.
// It is made in a copy that lives only as long as the build: nothing that
// others wrote is committed. A module's edits are in its edits.json.
type edit struct {
	Module  string        // module path
	Add     []string      // files of ours to add to its root, relative to our module
	Replace []replacement // texts to replace
}

// replacement replaces the one place in a file where Old occurs by New.
type replacement struct{ File, Old, New string }

// applyEdits makes the edits that source asks for, and points the go.mod in
// work to the edited copies.
func applyEdits(ctx context.Context, source, work string) error {
	edits, err := readEdits(filepath.Join(source, "edits.json"))
	if err != nil {
		return err
	}

	for _, e := range edits {
		// Relative, so that the programs do not depend on where they were built.
		copied := "./edited/" + strings.ReplaceAll(e.Module, "/", "_")

		if err := e.apply(ctx, source, work, filepath.Join(work, filepath.FromSlash(copied))); err != nil {
			return fmt.Errorf("edits.json: %s: %w", e.Module, err)
		}

		var output bytes.Buffer
		if err := goCommand(ctx, work, &output, "mod", "edit", "-replace", e.Module+"="+copied); err != nil {
			return fmt.Errorf("%w\n%s", err, &output)
		}
	}

	return nil
}

// readEdits reads edits.json; there may be none.
func readEdits(name string) ([]edit, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}

	if err != nil {
		return nil, err
	}

	var edits []edit

	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()

	if err := decoder.Decode(&edits); err != nil {
		return nil, fmt.Errorf("edits.json: %w", err)
	}

	return edits, nil
}

// apply copies the module to the folder and edits it there.
func (e edit) apply(ctx context.Context, source, work, folder string) error {
	upstream, err := moduleDir(ctx, work, e.Module)
	if err != nil {
		return err
	}

	if err := copyModule(os.DirFS(upstream), folder); err != nil {
		return err
	}

	for _, name := range e.Add {
		from := filepath.Join(source, filepath.FromSlash(name))
		if err := copyFile(from, filepath.Join(folder, path.Base(name))); err != nil {
			return err
		}
	}

	for _, r := range e.Replace {
		if err := r.apply(filepath.Join(folder, filepath.FromSlash(r.File))); err != nil {
			return err
		}
	}

	return nil
}

func (r replacement) apply(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}

	if n := strings.Count(string(data), r.Old); n != 1 {
		return fmt.Errorf("%s has %q %d times, want it once", r.File, r.Old, n)
	}

	return os.WriteFile(name, []byte(strings.Replace(string(data), r.Old, r.New, 1)), 0o644)
}

// moduleDir is the folder of a module that the go.mod in work requires; it is
// downloaded if need be.
func moduleDir(ctx context.Context, work, module string) (string, error) {
	var output bytes.Buffer

	for _, args := range [][]string{{"mod", "download", module}, {"list", "-m", "-f", "{{.Dir}}", module}} {
		output.Reset()

		if err := goCommand(ctx, work, &output, args...); err != nil {
			return "", fmt.Errorf("%w\n%s", err, &output)
		}
	}

	return strings.TrimSpace(output.String()), nil
}

// copyModule copies what a build needs of a module: tests and their data are
// left out.
func copyModule(upstream fs.FS, folder string) error {
	return fs.WalkDir(upstream, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return fs.SkipDir
		case !entry.Type().IsRegular() || strings.HasSuffix(name, "_test.go"):
			return nil
		}

		data, err := fs.ReadFile(upstream, name)
		if err != nil {
			return err
		}

		to := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}

		return os.WriteFile(to, data, 0o644)
	})
}
