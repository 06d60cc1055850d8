// Package base owns what a cluster.yaml is laid over: which files these are, and how
// the values of one meet those of another. It is pure.
package base

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/nodefile"
	"github.com/talosgen/talosgen/schemas"
)

// most is how many bases a cluster.yaml may be laid over: for a stage of a cluster, a
// kind of cluster, and all.
const most = 3

// Part is a file of a chain.
type Part struct {
	File string // from the root of the repository
	Root *yaml.Node
}

// Read reads a cluster.yaml and its bases: the file itself first, and what everything is
// laid over at the end. Nodes of bases know their files. The error has the problems of all
// files that could be read.
func Read(file string, files map[string][]byte) ([]Part, error) {
	var parts []Part
	err := follow(file, func(name string) ([]byte, error) {
		if data, ok := files[name]; ok || name == file {
			return data, nil
		}
		return nil, fs.ErrNotExist
	}, func(name string, root *yaml.Node) {
		if name != file {
			nodefile.Mark(root, name)
		}
		parts = append(parts, Part{name, root})
	})
	if err != nil {
		return nil, err
	}
	var problems diag.List
	for i, p := range parts {
		switch {
		case len(parts) == 1: // nothing is merged
		case p.Root.Kind != yaml.MappingNode:
			problems.Add(diag.New(nodefile.Pos(p.Root, p.File), "must be a mapping").WithHint("a base has the keys of cluster.yaml"))
		default:
			problems = append(problems, checkTags(p, i == len(parts)-1)...)
		}
	}
	return parts, problems.Err()
}

// Chain lists the bases of a cluster.yaml, the nearest first. What is wrong with a file is
// for who reads it as a whole: the list ends there. The error is that of read for a base.
func Chain(file string, read func(string) ([]byte, error)) (bases []string, err error) {
	_ = follow(file, func(name string) ([]byte, error) {
		data, failed := read(name)
		switch {
		case name == file:
		case failed == nil:
			bases = append(bases, name)
		case !errors.Is(failed, fs.ErrNotExist):
			err = failed
		}
		return data, failed
	}, func(string, *yaml.Node) {})
	return bases, err
}

// namesBase finds the key in a file that is not valid YAML.
var namesBase = regexp.MustCompile(`(?m)^base[ \t]*:`)

// Check finds what keeps the bases of a cluster.yaml from being read. What is wrong with
// a file without one is for who reads it as a whole.
func Check(file string, files map[string][]byte) error {
	root, err := Parse(file, files[file])
	switch {
	case err != nil && namesBase.Match(files[file]):
		return err
	case err != nil || named(root) == nil:
		return nil
	}
	_, err = Read(file, files)
	return err
}

// follow reads a file and then its bases, one after the other.
func follow(file string, read func(string) ([]byte, error), found func(string, *yaml.Node)) error {
	seen := []string{file}
	data, err := read(file)
	if err != nil {
		return err
	}
	for name := file; ; {
		root, err := Parse(name, data)
		if err != nil {
			return err
		}
		found(name, root)
		value := named(root)
		if value == nil {
			return nil
		}
		at := diag.Pos{File: name, Line: value.Line, Column: value.Column}
		next, p := target(name, value)
		switch {
		case p != nil:
			return p
		case slices.Contains(seen, next):
			return diag.New(at, "base leads in a circle: %s", strings.Join(append(seen, next), ", "))
		case len(seen) > most:
			return diag.New(at, "%s would be laid over more than %d bases", file, most).WithHint("put what these files have in common into one")
		}
		if data, err = read(next); errors.Is(err, fs.ErrNotExist) {
			return diag.New(at, "the base %s does not exist", next).WithHint("the path begins where %s is", name).WithCause(err)
		} else if err != nil {
			return err
		}
		seen, name = append(seen, next), next
	}
}

// named is the value of base, if the file has one.
func named(root *yaml.Node) *yaml.Node {
	if root.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if value := root.Content[i+1]; root.Content[i].Value == schemas.BaseKey && !isNull(value) {
			return value
		}
	}
	return nil
}

// target is the path of the base that a value names.
func target(in string, value *yaml.Node) (string, *diag.Problem) {
	at := diag.Pos{File: in, Line: value.Line, Column: value.Column}
	example := "write " + schemas.BaseKey + ": " + relative(in, path.Join(layer.EnvsDir, "base.yaml"))
	switch name := value.Value; {
	case value.Kind != yaml.ScalarNode || value.ShortTag() != "!!str" || name == "":
		return "", diag.New(at, "base must be the path of a file").WithHint("%s", example)
	case strings.Contains(name, "${"):
		return "", diag.New(at, "base cannot hold a variable").WithHint("which files there are is known before what is in them")
	default:
		next := path.Join(path.Dir(in), name)
		if path.IsAbs(name) || strings.HasPrefix(next, "../") || next == ".." {
			return "", diag.New(at, "base leads out of the repository").WithHint("%s", example)
		}
		if path.Dir(next) != layer.EnvsDir || path.Ext(next) != ".yaml" || strings.HasPrefix(path.Base(next), ".") {
			return "", misplaced(at, next, example)
		}
		return next, nil
	}
}

// misplaced refuses a base in a place where a reader would not look for one.
func misplaced(at diag.Pos, next, example string) *diag.Problem {
	p := diag.New(at, "base leads to %s; a base is a file directly in %s, such as %s/base.yaml", next, layer.EnvsDir, layer.EnvsDir)
	if path.Base(next) == layer.ClusterFile && path.Dir(path.Dir(next)) == layer.EnvsDir {
		return p.WithHint("who changes one environment must not change another without seeing it:\nmove what both share to %s/base.yaml, and %s in both", layer.EnvsDir, example)
	}
	if strings.Contains(path.Base(next), ".sops.") {
		return p.WithHint("it cannot be encrypted: secrets belong into %s", "secrets.sops.yaml")
	}
	return p.WithHint("%s", example)
}

// relative is a path as a file in the repository names it.
func relative(from, to string) string {
	dir := path.Dir(from)
	if path.Dir(to) == dir {
		return path.Base(to)
	}
	return fmt.Sprintf("%s%s", strings.Repeat("../", strings.Count(strings.TrimPrefix(dir, layer.EnvsDir), "/")), path.Base(to))
}
