package render

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/printable"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/layer"
)

// World is what a render needs from outside of the repository. Rendering
// itself depends on the keys only; clock and randomness are for new secrets.
type World struct {
	Keys   sopsage.Env
	Now    func() time.Time
	Random io.Reader
	// Given returns a secret that whoever runs the program has set in the
	// environment, by the name of its variable; empty if there is none. New
	// secrets are taken from there, a render looks at none of it. It may be nil.
	Given func(name string) secret.String
	// ChartCache returns a chart or manifest by its SHA-256 in hex; [fs.ErrNotExist]
	// if there is none. Nil: what is not in the repository is not found.
	ChartCache func(digest string) ([]byte, error)
	// BoundTemplates returns a context that ends when the templates of a chart have
	// taken too much time or memory; its cause says which, as in "take more than 60
	// seconds". Nil: there is no bound.
	BoundTemplates func(context.Context) (context.Context, context.CancelFunc)
	// Masker learns every secret that is decrypted, so that whoever prints
	// messages can mask them.
	Masker *secret.Masker
	// Committed returns a file as it was last committed, also if it is gone since;
	// [fs.ErrNotExist] if it never was. Nil: there is no history to ask.
	Committed func(file string) ([]byte, error)
	// Version of talosgen, as in "0.1.0": it stands in locks.
	Version string
}

// Repo is a repository of environments.
type Repo struct {
	root  string
	files repoFS
	world World

	newKeys bool // see [Repo.WithNewKeys]
}

const (
	envsDir     = "envs"
	patchesDir  = "patches"
	chartsDir   = "charts"
	renderedDir = "rendered"
	sopsConfig  = ".sops.yaml"
)

// FindRoot looks for the repository that a directory is in: the nearest one
// above with an envs directory.
func FindRoot(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, envsDir)); err == nil && info.IsDir() {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", diag.On(dir, "no directory with %s/ here or above", envsDir).
				WithHint("run talosgen inside of its repository, name it with --repo, or start one with `talosgen init`").
				WithCode(diag.Usage)
		}
	}
}

// CheckEnvironment makes sure that the repository at a directory has an
// environment of that name, for commands that read the rendered tree alone.
func CheckEnvironment(root, env string) error { return missing(os.DirFS(root), env) }

// Open opens the repository at a directory.
func Open(root string, world World) (*Repo, error) {
	guard, err := os.OpenRoot(root)
	if err != nil {
		return nil, diag.On(root, "the repository cannot be opened: %v", reason(err)).WithCode(diag.Usage).WithCause(err)
	}
	if world.Masker == nil {
		world.Masker = secret.NewMasker()
	}
	return &Repo{root: root, files: repoFS{root: root, guard: guard}, world: world}, nil
}

// Close releases the repository.
func (r *Repo) Close() error { return r.files.guard.Close() }

// Root returns the directory of the repository.
func (r *Repo) Root() string { return r.root }

// Environments returns the names of all environments, sorted: the directories
// of envs. One without a cluster.yaml is not left out, so that a misspelt name
// is noticed.
func (r *Repo) Environments() ([]string, error) {
	entries, err := r.files.ReadDir(envsDir)
	if err != nil {
		return nil, diag.New(diag.Pos{File: envsDir}, "cannot be read: %v", reason(err)).WithCause(err)
	}
	var names []string
	for _, e := range entries {
		info, err := r.files.Stat(path.Join(envsDir, e.Name()))
		if err == nil && info.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// AbandonedTrees returns the rendered trees whose environment is gone, sorted.
func (r *Repo) AbandonedTrees() []string {
	entries, err := r.files.ReadDir(renderedDir)
	if err != nil {
		return nil // nothing is rendered yet
	}
	var dirs []string
	for _, e := range entries {
		dir := path.Join(renderedDir, e.Name())
		if _, err := r.files.Stat(path.Join(dir, rendered.LockName)); err != nil || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if _, err := r.files.Stat(path.Join(envsDir, e.Name())); errors.Is(err, fs.ErrNotExist) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// tree returns the directory of an environment's rendered tree.
func (r *Repo) tree(env string) string { return filepath.Join(r.root, renderedDir, env) }

// local makes the places in problems with a tree begin at the repository, as
// all others do.
func (r *Repo) local(err error) error {
	var problems diag.List
	problems.AddErr(err)
	for _, p := range problems {
		if rel, err := filepath.Rel(r.root, p.Pos.File); err == nil && filepath.IsAbs(p.Pos.File) {
			p.Pos.File = filepath.ToSlash(rel)
		}
	}
	return err
}

// checkLinks refuses an environment whose directories lead out of the
// repository.
func (r *Repo) checkLinks(env string) error {
	if strings.ContainsAny(env, `/\`) || env == "" || strings.HasPrefix(env, ".") {
		return diag.On(env, "not the name of an environment").
			WithHint("an environment is a directory of envs/, named here without the path").WithCode(diag.Usage)
	}
	var problems diag.List
	for _, dir := range []string{patchesDir, path.Join(envsDir, env), chartsDir, path.Join(renderedDir, env)} {
		info, err := r.files.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && info.IsDir():
		case err == nil, errors.Is(err, syscall.ENOTDIR):
			problems.Add(diag.New(diag.Pos{File: dir}, "a file is where a directory belongs"))
		default:
			problems.Add(diag.New(diag.Pos{File: dir}, "the directory cannot be used: %v", reason(err)).
				WithHint("links that lead out of the repository are not followed").WithCause(err))
		}
	}
	return problems.Err()
}

// inputs lists the sources of an environment. That it does not exist is the
// fault of whoever named it, and not of a file.
func (r *Repo) inputs(env string) ([]string, error) {
	paths, _, err := r.inputsAndLinks(env)
	return paths, err
}

// inputsAndLinks is [Repo.inputs] with the links of addons that lead nowhere.
func (r *Repo) inputsAndLinks(env string) (paths []string, broken diag.List, err error) {
	if err := missing(r.files, env); err != nil {
		return nil, nil, err
	}
	paths, broken, err = layer.Inputs(r.files, env)
	if err != nil {
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
	if _, err := fs.Stat(files, path.Join(envsDir, env)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := layer.CheckEnvironment(files, env)
	if p := (*diag.Problem)(nil); errors.As(err, &p) {
		return p.WithCode(diag.Usage)
	}
	return err
}

// repoFS reads the files of a repository. Paths are followed as the system
// does, which is cheap; links are followed by Stat alone, which refuses to
// leave the repository. Directories are listed with the links in them, so
// whoever meets one asks Stat.
type repoFS struct {
	root   string
	guard  *os.Root
	edited map[string][]byte // files that are to be read as if they held this
}

var (
	_ fs.StatFS     = repoFS{}
	_ fs.ReadDirFS  = repoFS{}
	_ fs.ReadFileFS = repoFS{}
)

func (f repoFS) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

// Open opens a file.
func (f repoFS) Open(name string) (fs.File, error) { return os.Open(f.path(name)) }

// ReadDir lists a directory, sorted.
func (f repoFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(f.path(name)) }

// ReadFile reads a file.
func (f repoFS) ReadFile(name string) ([]byte, error) {
	if text, ok := f.edited[name]; ok {
		return text, nil
	}
	return os.ReadFile(f.path(name))
}

// Stat follows links within the repository.
func (f repoFS) Stat(name string) (fs.FileInfo, error) { return f.guard.Stat(filepath.FromSlash(name)) }

// reason is the text of an error without the path, which the problem has.
func reason(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
