package apply

import (
	"maps"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/schemas"
)

// OpenKeyless reads a tree without any key: the files fit the lock, and nothing is
// known of the seal. What can be done with it is to plan the infrastructure, which
// holds no secret: see [Environment.Keyless]. Nothing in it is decrypted.
func OpenKeyless(t Tree) (*Environment, error) {
	e := &Environment{name: t.Env, masker: t.Masker, version: t.Version, keyless: true}
	tree, err := rendered.Read(t.Files, e.path(""), t.Version)
	if err != nil {
		return nil, err
	}
	e.files = tree.Files
	for _, name := range slices.Sorted(maps.Keys(e.files)) {
		if block, err := sopsage.ParseBlock(e.path(name), e.files[name]); err == nil && block != nil && !rendered.ForCluster(name) {
			recipients, err := block.Recipients()
			if err != nil {
				return nil, err
			}
			e.recipients = append(e.recipients, recipients.Strings()...)
		}
	}
	if e.Infrastructure, err = rendered.Infrastructure(e.path(""), tree.Files); err != nil {
		return nil, err
	}
	return e, tree.Lock.CheckCluster(e.path(""), e.Infrastructure.Cluster)
}

// Keyless reports whether the tree was read without keys: then its plan is of the
// infrastructure alone, it is not to be executed, and the token of the project has
// to be given.
func (e *Environment) Keyless() bool { return e.keyless }

// withoutKeys are the problems of a session with a tree that was read without
// keys: it has no token of its own, and of machines that exist already there is
// nothing to see.
func (e *Environment) withoutKeys(c Cloud) error {
	switch {
	case !e.keyless:
		return nil
	case e.Infrastructure.Provider != schemas.Hetzner:
		return diag.On("environment "+e.name, "without a key there is nothing to compare: it has no infrastructure at Hetzner Cloud").
			WithHint("what nodes have is told by `talosgen plan %s`, with a key that can decrypt the tree", e.name).WithCode(diag.Usage)
	case c.Token.IsZero():
		return diag.On("environment "+e.name, "without a key the token of the project is not known").
			WithHint("set HCLOUD_TOKEN; a token that may only read is enough").WithCode(diag.Secrets)
	}
	return nil
}
