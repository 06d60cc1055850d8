package source

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/base"
)

// withBases adds the bases of the cluster.yaml of an environment to its sources. A link
// that leads out of the repository is refused, as for any other source.
func (r *Repo) withBases(env string, paths []string) ([]string, error) {
	bases, err := r.basesOf(env)
	if err != nil || len(bases) == 0 {
		return paths, err
	}
	paths = append(paths, bases...)
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// basesOf are the bases of the cluster.yaml of an environment, the nearest first.
func (r *Repo) basesOf(env string) ([]string, error) {
	return base.Chain(path.Join(EnvsDir, env, ClusterFile), func(file string) ([]byte, error) {
		if text, ok := r.Files.edited[file]; ok {
			return text, nil
		}
		return r.Files.readRegular(file)
	})
}

// readRegular reads a file, and refuses what is none, and a link out of the repository.
func (f Files) readRegular(file string) ([]byte, error) {
	info, err := f.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		return nil, diag.New(diag.Pos{File: file}, "is not a file")
	}
	var data []byte
	if err == nil {
		data, err = f.ReadInside(file)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	return nil, diag.New(diag.Pos{File: file}, "cannot be read: %v", Reason(err)).
		WithHint("links that lead out of the repository are not followed").WithCause(err)
}

// bases are the bases of the environment among the files that were read.
func (e *Environment) bases() []string {
	files, _ := base.Chain(e.File(ClusterFile), func(file string) ([]byte, error) {
		if data, ok := e.Raw[file]; ok {
			return data, nil
		}
		return nil, fs.ErrNotExist
	})
	return files
}

// readBases reads the bases of a cluster.yaml that was read alone.
func (e *Environment) readBases() error {
	files, err := e.Repo.basesOf(e.Name)
	for _, file := range files {
		data, failed := e.Repo.Files.ReadFile(file)
		if failed != nil {
			return diag.New(diag.Pos{File: file}, "cannot be read: %v", Reason(failed)).WithCause(failed)
		}
		e.Raw[file] = data
	}
	return err
}

// DecodeCluster reads keys of cluster.yaml and its bases into a value, with variables as
// they are written, before the file can be read as a whole.
func (e *Environment) DecodeCluster(into any) error {
	parts, err := base.Read(e.File(ClusterFile), e.Raw)
	if err != nil {
		return err
	}
	root, err := base.Merge(parts)
	if err != nil {
		return err
	}
	return root.Decode(into)
}
