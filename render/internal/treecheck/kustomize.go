package treecheck

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// listing are the fields of a kustomization.yaml that only say which objects
// there are: with no others in it, nothing has to be built.
var listing = []string{"apiVersion", "kind", "metadata", "resources", "crds", "configurations", "openapi", "buildMetadata", "sortOptions"}

// kustomize returns what Flux applies from a directory.
func (c *checker) kustomize(dir string) ([]manifest.Located, error) {
	if !c.files.isDir(dir) {
		return nil, nil // a reference that leads nowhere: another check says so
	}
	if c.inside[dir] {
		return nil, diag.New(diag.Pos{File: dir}, "the directory has itself among its resources")
	}
	c.inside[dir] = true
	defer delete(c.inside, dir)
	for _, name := range kustomizations {
		file := path.Join(dir, name)
		if info, err := fs.Stat(c.files.fs, file); err == nil && !info.IsDir() {
			return c.kustomization(dir, file)
		}
	}
	return c.generated(dir)
}

// generated is what Flux applies from a directory without a kustomization.yaml:
// all manifests, and directories below that have one as they are
// (fluxcd.io/flux/components/kustomize/kustomizations, generating a
// kustomization.yaml file).
func (c *checker) generated(dir string) (objects []manifest.Located, err error) {
	var nested []string
	names, err := c.files.below(dir, func(below string) bool {
		has := slices.ContainsFunc(kustomizations, func(name string) bool {
			_, err := fs.Stat(c.files.fs, path.Join(below, name))
			return err == nil
		})
		if has {
			nested = append(nested, below)
		}
		return has
	})
	if err != nil {
		return nil, err
	}
	return c.resources(append(names, nested...), diag.Pos{File: dir})
}

// kustomization is what a kustomization.yaml builds.
func (c *checker) kustomization(dir, file string) ([]manifest.Located, error) {
	text, err := c.files.text(file)
	if err != nil {
		return nil, err
	}
	var k map[string]any
	if err := yaml.Unmarshal(text, &k); err != nil {
		return nil, diag.New(diag.Pos{File: file}, "not valid YAML").WithCause(err)
	}
	for _, key := range slices.Sorted(maps.Keys(k)) {
		if slices.Contains(listing, key) {
			continue
		}
		return c.in.Build(dir)
	}
	var names []string
	for _, name := range manifest.Texts(k["resources"]) {
		if strings.Contains(name, "://") || strings.HasPrefix(name, "github.com/") || strings.Contains(name, "?ref=") {
			c.notes = append(c.notes, fmt.Sprintf("%s: %s is elsewhere, what it brings was not looked at", file, name))
			continue
		}
		names = append(names, path.Join(dir, name))
	}
	return c.resources(names, diag.Pos{File: file})
}

// resources are the objects of files and directories that something names.
func (c *checker) resources(names []string, by diag.Pos) (objects []manifest.Located, err error) {
	var problems diag.List
	for _, name := range names {
		var in []manifest.Located
		info, err := fs.Stat(c.files.fs, name)
		switch {
		case err != nil:
			problems.Add(diag.New(by, "the resource %s is not there", name))
		case info.IsDir():
			in, err = c.kustomize(name)
		default:
			in, err = c.files.objects(name)
		}
		if info != nil {
			problems.AddErr(err)
		}
		objects = append(objects, in...)
	}
	return objects, problems.Err()
}
