package render

import (
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/source"
)

// Process is what a render needs from outside of the repository.
type Process = source.Process

// FlagNewKeys is the flag with which a command is told that new keys are right.
const FlagNewKeys = source.FlagNewKeys

// FindRoot looks for the repository that a directory is in: the nearest one
// above with an envs directory.
func FindRoot(dir string) (string, error) { return source.FindRoot(dir) }

// CheckEnvironment makes sure that the repository at a directory has an
// environment of that name, for commands that read the rendered tree alone.
func CheckEnvironment(root, env string) error { return source.CheckEnvironment(root, env) }

// Repo is a repository of environments.
type Repo struct{ src *source.Repo }

// Open opens the repository at a directory.
func Open(root string, process Process) (*Repo, error) {
	src, err := source.Open(root, process)
	if err != nil {
		return nil, err
	}
	return &Repo{src}, nil
}

// Close releases the repository.
func (r *Repo) Close() error { return r.src.Close() }

// Root returns the directory of the repository.
func (r *Repo) Root() string { return r.src.Root() }

// Repository returns what reads the repository, for the packages below this one.
func (r *Repo) Repository() *source.Repo { return r.src }

// Environments returns the names of all environments, sorted.
func (r *Repo) Environments() ([]string, error) { return r.src.Environments() }

// AbandonedTrees returns the rendered trees whose environment is gone, sorted.
func (r *Repo) AbandonedTrees() []string { return r.src.AbandonedTrees() }

// WithNewKeys returns the repository for a command that was told that the keys of
// the environment are new ones, and that this is right.
func (r *Repo) WithNewKeys() *Repo { return &Repo{r.src.WithNewKeys()} }

// ExampleKey returns the key file that an environment's cluster.yaml names for
// an example, with its public keys; nil if it names none. Everybody has that
// key, so nothing real may be encrypted for it.
func (r *Repo) ExampleKey(env string) (*sopsage.KeyFile, []string, error) {
	return r.src.ExampleKey(env)
}

// WithEdited returns the repository as if some of its files held other texts, or did
// not exist, with nil.
func (r *Repo) WithEdited(files map[string][]byte) *Repo { return &Repo{r.src.WithEdited(files)} }

// KeyRecipients returns whom .sops.yaml names for a file, for [sopsage.Env]. What
// is rendered, and the keyring, are for those for whom the secrets of the
// environment are.
func (r *Repo) KeyRecipients(file string) (sopsage.Recipients, error) {
	return r.src.KeyRecipients(file)
}
