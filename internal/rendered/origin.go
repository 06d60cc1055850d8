package rendered

import (
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// checkPlace refuses a lock in the directory of another environment than the one
// that it was rendered for: a copied tree is as genuine as its original, and
// would be applied to the wrong cluster. A lock of version 1 names none, but it
// names its sources, among which are those of its own environment and of no
// other.
func (l *Lock) checkPlace(dir string) *diag.Problem {
	env := path.Base(dir)
	of := l.Environment
	if l.Version == firstFormat {
		of = l.source(env)
	}
	if of == env {
		return nil
	}
	return diag.New(diag.Pos{File: path.Join(dir, LockName)}, "the tree was rendered for the environment %s, and is in the directory of %s", named(of), env).
		WithHint("restore rendered/%s from Git, or remove it, run `talosgen render %s`, and review what it changes", env, env).
		WithCode(diag.Secrets)
}

// source is the environment whose sources a lock names; env if it is among
// several, and empty if there is none.
func (l *Lock) source(env string) string {
	var found []string
	for _, e := range l.Inputs {
		rest, below := strings.CutPrefix(e.Path, "envs/")
		if name, _, isDir := strings.Cut(rest, "/"); below && isDir {
			found = append(found, name)
		}
	}
	switch {
	case slices.Contains(found, env):
		return env
	case len(found) == 0:
		return ""
	}
	return found[0]
}

// named is a name for people.
func named(name string) string {
	if name == "" {
		return "(none)"
	}
	return name
}

// CheckCluster refuses a lock that was made for another cluster than the tree
// describes. One of version 1 names none.
func (l *Lock) CheckCluster(dir, cluster string) error {
	if l.Version == firstFormat || l.Cluster == cluster {
		return nil
	}
	return diag.New(diag.Pos{File: path.Join(dir, LockName)}, "was made for the cluster %s, and the tree describes %s", named(l.Cluster), named(cluster)).
		WithHint("run `talosgen render %s --force`, and review what it changes", path.Base(dir)).WithCode(diag.Secrets)
}
