package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/talosgen/talosgen/internal/sim/kubesim"
)

// simulatedFlux reconciles the rendered trees of a repository as Flux does that
// finds them at the commit that is checked out. Trees that do not bring Flux
// themselves expect it to be there. It is about some environments, or else all.
func simulatedFlux(ctx context.Context, root string, envs ...string) (*kubesim.Flux, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	flux := &kubesim.Flux{Installed: true, Read: repositoryFor(dir.FS(), envs...).read}
	if len(envs) == 0 {
		envs = []string{"."}
	}
	for _, env := range envs {
		brought, err := bringsFlux(dir.FS(), path.Join("rendered", env))
		if err != nil {
			return nil, err
		}
		argo, argoThere, err := argoOf(dir.FS(), path.Join("rendered", env))
		if err != nil {
			return nil, err
		}
		flux.Installed = flux.Installed && !brought && argo == ""
		if argoThere {
			flux.ArgoCD = argo
		}
	}
	// Without a repository, or without Git, the commit is simulated.
	head := &headOf{root: root, every: 500 * time.Millisecond, commit: strings.Repeat("0", 40)}
	flux.Revision = func(branch string) string { return branch + "@sha1:" + head.now(ctx) }
	return flux, nil
}

// headOf is the commit that is checked out in a repository, which may be another one by
// and by: what is committed while a simulation runs, its Flux finds.
type headOf struct {
	root  string
	every time.Duration // how often Git is asked at most: Flux asks more often than operators commit

	mu     sync.Mutex
	asked  time.Time
	commit string
}

// now is the commit.
func (h *headOf) now(ctx context.Context) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.asked.IsZero() || time.Since(h.asked) > h.every {
		if commit, err := gitLine(ctx, h.root, "rev-parse", "HEAD"); err == nil {
			h.commit = commit
		}
		h.asked = time.Now()
	}
	return h.commit
}

// fluxMarks are in trees that bring Flux: the definition of one of its kinds, or of
// what its operator installs it by.
var fluxMarks = [][]byte{[]byte("name: gitrepositories.source.toolkit.fluxcd.io"), []byte("name: fluxinstances.fluxcd.controlplane.io")}

// bringsFlux reports whether a tree has the components of Flux, or its operator. One
// that was not rendered yet has none.
func bringsFlux(root fs.FS, tree string) (found bool, err error) {
	err = fs.WalkDir(root, tree, func(name string, d fs.DirEntry, err error) error {
		switch {
		case name == tree && errors.Is(err, fs.ErrNotExist):
			return fs.SkipAll
		case err != nil || d.IsDir() || path.Ext(name) != ".yaml":
			return err
		}
		text, err := fs.ReadFile(root, name)
		if found = slices.ContainsFunc(fluxMarks, func(mark []byte) bool { return bytes.Contains(text, mark) }); found {
			return fs.SkipAll
		}
		return err
	})
	return found, err
}

// argoOf is the namespace of the Argo CD that runs a tree, and whether that has to be
// there already; empty if Flux does, or nothing.
func argoOf(root fs.FS, tree string) (namespace string, there bool, err error) {
	objects, err := kubesim.Manifests(root, path.Join(tree, "bootstrap", "argocd"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	for _, o := range objects {
		if o["kind"] == "Application" {
			metadata, _ := o["metadata"].(map[string]any)
			namespace, _ = metadata["namespace"].(string)
		}
	}
	_, missing := fs.Stat(root, path.Join(tree, "argocd", "components.yaml"))
	return namespace, errors.Is(missing, fs.ErrNotExist), err
}
