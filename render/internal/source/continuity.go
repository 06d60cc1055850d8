package source

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// WithNewKeys returns the repository for a command that was told that the keys of
// the environment are new ones, and that this is right.
func (r *Repo) WithNewKeys() *Repo {
	agreed := *r
	agreed.NewKeys = true
	return &agreed
}

// CheckContinuity refuses data keys that are not those of the last render. Public
// keys suffice to make secrets.sops.yaml and keyring.yaml anew, or to bring old
// ones back: whoever did that could read everything that is encrypted from then
// on. Only a holder of the data key of the last render could seal its lock.
func (e *Environment) CheckContinuity(ctx context.Context, operator *sopsage.DataKey) error {
	if e.Repo.NewKeys {
		return nil
	}
	same, err := e.sameKeys(ctx, operator)
	if err != nil || same {
		return err
	}
	return e.newKeys()
}

// newKeys is the problem that the data keys are not those of the last render.
func (e *Environment) newKeys() *diag.Problem {
	return diag.New(diag.Pos{File: e.File(KeyringFile)}, "its data keys are not those of the last render of %s; nothing was written", e.Name).
		WithHint("data keys were made without rendering with them, or exchanged, or brought back: who did that could read what is encrypted from now on\n"+
			"find out who, and why: `git log -p -- %s %s`\n"+
			"restore both files from Git; or, if the keys are right, say so: --%s", e.File(KeyringFile), e.File(SecretsName), FlagNewKeys).
		WithCode(diag.Secrets)
}

// FlagNewKeys is the flag with which a command is told that new keys are right.
const FlagNewKeys = "new-keys"

// sameKeys reports whether a data key is the one of the last render: the seal of
// its lock fits, or else all files of the tree are encrypted with it. If nothing
// was rendered yet there is nothing to compare with.
func (e *Environment) sameKeys(ctx context.Context, operator *sopsage.DataKey) (bool, error) {
	lock, err := e.LastLock()
	if err != nil {
		return false, err
	}
	if operator != nil && lock != nil && lock.VerifySeal(operator.Derive(rendered.SealLabel)) == nil {
		return true, nil
	}
	files, all, err := e.treeKeys(ctx, operator)
	if err != nil {
		return false, err
	}
	return files > 0 && all || files == 0 && lock == nil, nil
}

// LastLock is the lock of the last render: the one in the tree, or else, if that
// is gone or damaged, the last one that was committed. It is nil if there was
// none.
func (e *Environment) LastLock() (*rendered.Lock, error) {
	lock, err := e.Repo.ReadLock(e.Name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) && !damaged(err) {
		return lock, err
	}
	if e.Repo.Process.Committed == nil {
		return nil, nil
	}
	file := path.Join(RenderedDir, e.Name, rendered.LockName)
	data, err := e.Repo.Process.Committed(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if lock, err = rendered.ParseLock(file, data, e.Repo.Process.Version); damaged(err) {
		return nil, nil
	}
	return lock, err
}

// damaged reports whether a lock was read and is not as a render writes it: it
// says what is wrong with a line.
func damaged(err error) bool {
	var p *diag.Problem
	return errors.As(err, &p) && p.Pos.Line > 0
}

// treeKeys counts the files of the rendered tree that only operators read, and
// tells whether all of them are encrypted with a data key.
func (e *Environment) treeKeys(ctx context.Context, operator *sopsage.DataKey) (files int, all bool, err error) {
	all = true
	root := path.Join(RenderedDir, e.Name)
	err = fs.WalkDir(e.Repo.Files, root, func(name string, d fs.DirEntry, err error) error {
		switch below := strings.TrimPrefix(name, root+"/"); {
		case errors.Is(err, fs.ErrNotExist) && name == root:
			return fs.SkipAll
		case err != nil:
			return diag.New(diag.Pos{File: name}, "cannot be read: %v", Reason(err)).WithCause(err)
		case d.IsDir(), path.Ext(name) != ".yaml", rendered.ForCluster(below):
			return nil
		}
		data, err := e.Repo.Files.ReadFile(name)
		if err != nil {
			return diag.New(diag.Pos{File: name}, "cannot be read: %v", Reason(err)).WithCause(err)
		}
		block, err := sopsage.ParseBlock(name, data)
		if block == nil && err == nil {
			return nil // nothing in it is encrypted
		}
		files++
		all = all && err == nil && e.hasKey(ctx, name, block, operator)
		return ctx.Err()
	})
	return files, all, err
}

// hasKey reports whether a block is that of a data key. A block that cannot be
// opened is another one's.
func (e *Environment) hasKey(ctx context.Context, name string, block *sopsage.Block, operator *sopsage.DataKey) bool {
	if operator == nil {
		return false
	}
	key, err := e.Keys.BlockKey(ctx, name, block)
	return err == nil && key.Equal(operator)
}
