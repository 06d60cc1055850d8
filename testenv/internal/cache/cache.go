// Package cache owns where the real programs that tests run are kept: which
// there are, and the folder of each, named by the content of everything that
// the program is built from. testenv/prepare fills these folders, and
// testenv/toolenv finds the programs in them.
package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

// Variable overrides the cache's folder.
const Variable = "TALOSGEN_TESTENV_CACHE"

// Cache is the folder that holds the programs, and the testenv folder of the
// checkout that says what they are built from.
type Cache struct {
	Root   string // where the programs are
	Source string // the testenv folder of this checkout
}

// Open finds the cache for the checkout that the working directory lies in.
// It reads the environment and the working directory itself: it is used by
// tests and their tools only, and nothing of it is part of talosgen.
func Open() (Cache, error) {
	root := os.Getenv(Variable)
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return Cache{}, fmt.Errorf("set %s to a folder: %w", Variable, err)
		}

		root = filepath.Join(user, "talosgen-testenv")
	}

	root, err := filepath.Abs(root)
	if err != nil {
		return Cache{}, err
	}

	dir, err := os.Getwd()
	if err != nil {
		return Cache{}, err
	}

	source, err := findSource(dir)

	return Cache{Root: root, Source: source}, err
}

// findSource looks upwards from dir for talosgen's own go.mod.
func findSource(dir string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		data, err := os.ReadFile(filepath.Join(d, "go.mod"))
		if err == nil && bytes.HasPrefix(data, []byte("module github.com/talosgen/talosgen\n")) {
			return filepath.Join(d, "testenv"), nil
		}

		if d == filepath.Dir(d) {
			return "", fmt.Errorf("%s is not in a checkout of talosgen", dir)
		}
	}
}

// Dir is the folder of a module's programs. Its name changes with every file
// of the module, the Go version, the platform and the way of building.
func (c Cache) Dir(m Module) (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %s %s %q %q\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, m.BuildFlags(), m)

	source := os.DirFS(filepath.Join(c.Source, filepath.FromSlash(m.Folder)))

	err := fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}

		data, err := fs.ReadFile(source, name)
		fmt.Fprintf(hash, "%q %d\n", name, len(data))
		hash.Write(data)

		return err
	})
	if err != nil {
		return "", fmt.Errorf("testenv/%s: %w", m.Folder, err)
	}

	id := hex.EncodeToString(hash.Sum(nil))[:12]

	return filepath.Join(c.Root, path.Base(m.Folder)+"-"+id), nil
}

// Ready tells whether every tool of the module, and what it is used with, is
// in its folder.
func Ready(dir string, m Module) bool {
	for _, tool := range m.Tools {
		info, err := os.Stat(filepath.Join(dir, tool.Name))
		if err != nil || !info.Mode().IsRegular() {
			return false
		}
	}

	for _, files := range m.Files {
		info, err := os.Stat(filepath.Join(dir, files.Folder))
		if err != nil || !info.IsDir() {
			return false
		}
	}

	return true
}

// Find returns the folder that has the programs of the module in a folder
// below testenv.
func (c Cache) Find(folder string) (string, error) {
	for _, m := range Modules() {
		if m.Folder != folder {
			continue
		}

		dir, err := c.Dir(m)
		if err != nil {
			return "", err
		}

		if !Ready(dir, m) {
			return "", fmt.Errorf("%s is not built", folder)
		}

		return dir, nil
	}

	return "", fmt.Errorf("there is no module testenv/%s", folder)
}
