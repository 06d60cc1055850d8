package main

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"sync"

	"github.com/talosgen/talosgen/internal/followed"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
)

// simulatedRepository is the repository that simulated engines follow: rendered trees
// are where gitops.path says that they are.
type simulatedRepository struct {
	root fs.FS
	envs []string // empty: all that are rendered

	mu    sync.Mutex
	known map[string]placed // by environment
}

// placed is where a tree is, and the text that says so.
type placed struct {
	text  []byte
	place followed.Tree
}

// repositoryFor is the repository of some environments; of all, without any.
func repositoryFor(root fs.FS, envs ...string) *simulatedRepository {
	return &simulatedRepository{root: root, envs: envs, known: map[string]placed{}}
}

// read returns the objects that an engine finds at a path.
func (r *simulatedRepository) read(at string) ([]map[string]any, error) {
	local, err := r.local(at)
	if err != nil {
		return nil, err
	}
	return kubesim.Manifests(r.root, local)
}

// local is where a path of the repository is in that of talosgen.
func (r *simulatedRepository) local(at string) (string, error) {
	places, err := r.places()
	if err != nil {
		return "", err
	}
	outside := false
	for _, place := range places {
		if _, inside := place.Below(at); inside {
			local, _ := place.Local(at)
			return local, nil
		}
		_, known := place.Local(at)
		outside = outside || !known
	}
	if outside {
		return "", &fs.PathError{Op: "open", Path: at, Err: fs.ErrNotExist}
	}
	local, _ := followed.Tree{}.Local(at)
	return local, nil
}

// places are where the trees are, as they are rendered now.
func (r *simulatedRepository) places() (places []followed.Tree, err error) {
	envs := r.envs
	if len(envs) == 0 {
		entries, err := fs.ReadDir(r.root, "rendered")
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			envs = append(envs, e.Name())
		}
	}
	for _, env := range envs {
		place, err := r.place(env)
		if err != nil {
			return nil, err
		}
		places = append(places, place)
	}
	return places, nil
}

// place is where the tree of an environment is.
func (r *simulatedRepository) place(env string) (followed.Tree, error) {
	dir := path.Join("rendered", env)
	var text []byte
	for _, name := range []string{"flux/manifests.yaml", "bootstrap/argocd/manifests.yaml"} {
		part, err := fs.ReadFile(r.root, path.Join(dir, name))
		switch {
		case err == nil:
			text = append(append(text, "---\n"...), part...)
		case !errors.Is(err, fs.ErrNotExist):
			return followed.Tree{}, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if was, found := r.known[env]; found && bytes.Equal(was.text, text) {
		return was.place, nil
	}
	objects, err := manifest.Parse(dir, text)
	if err != nil {
		return followed.Tree{}, err
	}
	place := followed.Of(dir, objects)
	r.known[env] = placed{text, place}
	return place, nil
}
