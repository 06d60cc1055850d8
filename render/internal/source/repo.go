package source

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/printable"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/layer"
)

// Repo is a repository of environments.
type Repo struct {
	root    string
	Files   Files
	Process Process

	NewKeys bool // see [Repo.WithNewKeys]
}

// Directories and files of a repository.
const (
	EnvsDir     = layer.EnvsDir
	PatchesDir  = layer.PatchesDir
	ChartsDir   = layer.ChartsDir
	RenderedDir = "rendered"
	SopsConfig  = ".sops.yaml"
)

// FindRoot looks for the repository that a directory is in: the nearest one
// above with an envs directory.
func FindRoot(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, EnvsDir)); err == nil && info.IsDir() {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", diag.On(dir, "no directory with %s/ here or above", EnvsDir).
				WithHint("run talosgen inside of its repository, name it with --repo, or start one with `talosgen init`").
				WithCode(diag.Usage)
		}
	}
}

// CheckEnvironment makes sure that the repository at a directory has an
// environment of that name, for commands that read the rendered tree alone.
func CheckEnvironment(root, env string) error { return missing(os.DirFS(root), env) }

// Open opens the repository at a directory.
func Open(root string, process Process) (*Repo, error) {
	guard, err := os.OpenRoot(root)
	if err != nil {
		return nil, diag.On(root, "the repository cannot be opened: %v", Reason(err)).WithCode(diag.Usage).WithCause(err)
	}
	if process.Masker == nil {
		process.Masker = secret.NewMasker()
	}
	return &Repo{root: root, Files: Files{root: root, guard: guard}, Process: process}, nil
}

// Close releases the repository.
func (r *Repo) Close() error { return r.Files.guard.Close() }

// Root returns the directory of the repository.
func (r *Repo) Root() string { return r.root }

// Environments returns the names of all environments, sorted: the directories
// of envs. One without a cluster.yaml is not left out, so that a misspelt name
// is noticed. Without that directory there are none.
func (r *Repo) Environments() ([]string, error) {
	entries, err := r.Files.ReadDir(EnvsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diag.New(diag.Pos{File: EnvsDir}, "cannot be read: %v", Reason(err)).WithCause(err)
	}
	var names []string
	for _, e := range entries {
		info, err := r.Files.Stat(path.Join(EnvsDir, e.Name()))
		if err == nil && info.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// AbandonedTrees returns the rendered trees whose environment is gone, sorted.
func (r *Repo) AbandonedTrees() []string {
	entries, err := r.Files.ReadDir(RenderedDir)
	if err != nil {
		return nil // nothing is rendered yet
	}
	var dirs []string
	for _, e := range entries {
		dir := path.Join(RenderedDir, e.Name())
		if _, err := r.Files.Stat(path.Join(dir, rendered.LockName)); err != nil || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if _, err := r.Files.Stat(path.Join(EnvsDir, e.Name())); errors.Is(err, fs.ErrNotExist) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// TreeDir returns the directory of an environment's rendered tree.
func (r *Repo) TreeDir(env string) string { return filepath.Join(r.root, RenderedDir, env) }

// Local makes the places in problems with a tree begin at the repository, as
// all others do.
func (r *Repo) Local(err error) error {
	var problems diag.List
	problems.AddErr(err)
	for _, p := range problems {
		if rel, err := filepath.Rel(r.root, p.Pos.File); err == nil && filepath.IsAbs(p.Pos.File) {
			p.Pos.File = filepath.ToSlash(rel)
		}
	}
	return err
}

// CheckLinks refuses an environment whose directories lead out of the
// repository.
func (r *Repo) CheckLinks(env string) error {
	if strings.ContainsAny(env, `/\`) || env == "" || strings.HasPrefix(env, ".") {
		return diag.On(env, "not the name of an environment").
			WithHint("an environment is a directory of envs/, named here without the path").WithCode(diag.Usage)
	}
	var problems diag.List
	for _, dir := range []string{PatchesDir, path.Join(EnvsDir, env), ChartsDir, path.Join(RenderedDir, env)} {
		info, err := r.Files.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && info.IsDir():
		case err == nil, errors.Is(err, syscall.ENOTDIR):
			problems.Add(diag.New(diag.Pos{File: dir}, "a file is where a directory belongs"))
		default:
			problems.Add(diag.New(diag.Pos{File: dir}, "the directory cannot be used: %v", Reason(err)).
				WithHint("links that lead out of the repository are not followed").WithCause(err))
		}
	}
	return problems.Err()
}

// Inputs lists the sources of an environment. That it does not exist is the
// fault of whoever named it, and not of a file.
func (r *Repo) Inputs(env string) ([]string, error) {
	paths, _, err := r.inputsAndLinks(env)
	return paths, err
}

// inputsAndLinks is [Repo.Inputs] with the links of addons that lead nowhere.
func (r *Repo) inputsAndLinks(env string) (paths []string, broken diag.List, err error) {
	if err := missing(r.Files, env); err != nil {
		return nil, nil, err
	}
	paths, broken, err = layer.Inputs(r.Files, env)
	if err != nil {
		return nil, nil, err
	}
	if paths, err = r.withBases(env, paths); err != nil {
		return nil, nil, err
	}
	return paths, broken, printableNames(paths)
}

// printableNames refuses files whose names would control a terminal or the log of
// a CI, and break the lines of a lock.
func printableNames(paths []string) error {
	var problems diag.List
	for _, p := range paths {
		if printable.Line(p) != p {
			problems.Add(diag.New(diag.Pos{File: p}, "has a name with characters that cannot be printed").
				WithHint("rename it: letters, digits, dots, hyphens and underscores are enough"))
		}
	}
	return problems.Err()
}

// missing is the problem that there is no environment of that name; nil if there
// is one.
func missing(files fs.FS, env string) error {
	if _, err := fs.Stat(files, path.Join(EnvsDir, env)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := layer.CheckEnvironment(files, env)
	if p := (*diag.Problem)(nil); errors.As(err, &p) {
		return p.WithCode(diag.Usage)
	}
	return err
}

// WithEdited returns the repository as if some of its files held other texts, or did
// not exist, with nil.
func (r *Repo) WithEdited(files map[string][]byte) *Repo {
	edited := *r
	edited.Files.edited = files
	return &edited
}
