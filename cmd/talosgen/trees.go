package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render"
)

// trees opens rendered trees.
type trees struct {
	ws     workspace
	keys   keySource
	masker *secret.Masker
}

// open opens a rendered tree. The keys of examples are no secret, and are
// found in the repository; all others are found where sops finds them.
func (t trees) open(ctx context.Context, repo *render.Repo, name string) (*apply.Environment, []string, error) {
	example, public, err := repo.ExampleKey(name)
	if err != nil {
		return nil, nil, err
	}
	var keys []sopsage.KeyFile
	if example != nil {
		keys = append(keys, *example)
	}
	tree, err := renderedTree(repo.Root(), name)
	if err != nil {
		return nil, nil, err
	}
	keyEnv := t.keys.env()
	keyEnv.Recipients = repo.KeyRecipients
	env, err := apply.Open(ctx, apply.Tree{
		Env: name, Files: tree, Keys: sopsage.NewKeys(keyEnv, keys...), Masker: t.masker, Version: version,
	})
	return env, public, err
}

// openKeyless is [trees.open] without keys: nothing is looked for, and
// nothing decrypted.
func (t trees) openKeyless(_ context.Context, repo *render.Repo, name string) (*apply.Environment, []string, error) {
	_, public, err := repo.ExampleKey(name)
	if err != nil {
		return nil, nil, err
	}
	tree, err := renderedTree(repo.Root(), name)
	if err != nil {
		return nil, nil, err
	}
	env, err := apply.OpenKeyless(apply.Tree{Env: name, Files: tree, Masker: t.masker, Version: version})
	return env, public, err
}

// environment opens the rendered tree that the command names, committed or
// not: nothing is applied.
func (t trees) environment(c *cli.Context) (*apply.Environment, error) {
	name, err := t.ws.environment(c)
	if err != nil {
		return nil, err
	}
	repo, err := t.ws.open(c)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	env, _, err := t.open(c.Context, repo, name)
	return env, err
}

// renderedTree is the directory of a rendered tree. Links do not lead out of it.
func renderedTree(root, env string) (fs.FS, error) {
	dir, err := os.OpenRoot(filepath.Join(root, "rendered", env))
	if errors.Is(err, fs.ErrNotExist) {
		if err := render.CheckEnvironment(root, env); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, diag.New(diag.Pos{File: "rendered/" + env}, "cannot be opened: %v", reasonOf(err)).
			WithHint("render the environment first: `talosgen render %s`", env).WithCode(diag.Usage).WithCause(err)
	}
	return dir.FS(), nil
}
