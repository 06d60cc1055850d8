package kubesim

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/talosgen/talosgen/internal/manifest"
)

// Manifests returns the objects that kustomize-controller finds in a directory:
// what its kustomization.yaml lists, or else all manifests below. Of Secrets that
// are encrypted the values are left out: a simulator has no key.
func Manifests(tree fs.FS, dir string) (objects []map[string]any, err error) {
	names, err := listed(tree, dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		info, err := fs.Stat(tree, name)
		if err != nil {
			return nil, err
		}
		var more []map[string]any
		if info.IsDir() {
			more, err = Manifests(tree, name)
		} else {
			more, err = manifests(tree, name)
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

// listed are the files and directories that a kustomization.yaml lists, or those
// that are there.
func listed(tree fs.FS, dir string) (names []string, err error) {
	const file = "kustomization.yaml"
	data, err := fs.ReadFile(tree, path.Join(dir, file))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		entries, err := fs.ReadDir(tree, dir)
		for _, e := range entries {
			if e.IsDir() || slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(e.Name())) {
				names = append(names, path.Join(dir, e.Name()))
			}
		}
		return names, err
	case err != nil:
		return nil, err
	}
	var k struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(data, &k); err != nil {
		return nil, fmt.Errorf("%s: %w", path.Join(dir, file), err)
	}
	for _, name := range k.Resources {
		names = append(names, path.Join(dir, name))
	}
	return names, nil
}

// manifests are the objects in a file.
func manifests(tree fs.FS, name string) (objects []map[string]any, err error) {
	data, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	found, err := manifest.Parse(name, data)
	for _, o := range found {
		if o["sops"] != nil {
			delete(o, "sops")
			delete(o, "data")
			delete(o, "stringData")
		}
		objects = append(objects, o)
	}
	return objects, err
}
