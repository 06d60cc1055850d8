package render

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
	told := *r
	told.newKeys = true
	return &told
}

// checkContinuity refuses data keys that are not those of the last render. Public
// keys suffice to make secrets.sops.yaml and keyring.yaml anew, or to bring old
// ones back: whoever did that could read everything that is encrypted from then
// on. Only a holder of the data key of the last render could seal its lock.
func (e *environment) checkContinuity(ctx context.Context, operator *sopsage.DataKey) error {
	if e.repo.newKeys {
		return nil
	}
	same, err := e.sameKeys(ctx, operator)
	if err != nil || same {
		return err
	}
	return e.newKeys()
}

// newKeys is the problem that the data keys are not those of the last render.
func (e *environment) newKeys() *diag.Problem {
	return diag.New(diag.Pos{File: e.path(keyringFile)}, "its data keys are not those of the last render of %s; nothing was written", e.name).
		WithHint("somebody made new keys without rendering with them, or exchanged the keys, or brought old ones back: who did could read what is encrypted from now on\n"+
			"find out who, and why: `git log -p -- %s %s`\n"+
			"restore both files from Git; or, if the keys are right, say so: --%s", e.path(keyringFile), e.path(secretsName), FlagNewKeys).
		WithCode(diag.Secrets)
}

// FlagNewKeys is the flag with which a command is told that new keys are right.
const FlagNewKeys = "new-keys"

// sameKeys reports whether a data key is the one of the last render: the seal of
// its lock fits, or else all files of the tree are encrypted with it. If nothing
// was rendered yet there is nothing to compare with.
func (e *environment) sameKeys(ctx context.Context, operator *sopsage.DataKey) (bool, error) {
	lock, err := e.lastLock()
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

// lastLock is the lock of the last render: the one in the tree, or else, if that
// is gone or damaged, the last one that was committed. It is nil if there was
// none.
func (e *environment) lastLock() (*rendered.Lock, error) {
	lock, err := e.repo.readLock(e.name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) && !damaged(err) {
		return lock, err
	}
	if e.repo.world.Committed == nil {
		return nil, nil
	}
	file := path.Join(renderedDir, e.name, rendered.LockName)
	data, err := e.repo.world.Committed(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if lock, err = rendered.ParseLock(file, data, e.repo.world.Version); damaged(err) {
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
func (e *environment) treeKeys(ctx context.Context, operator *sopsage.DataKey) (files int, all bool, err error) {
	all = true
	root := path.Join(renderedDir, e.name)
	err = fs.WalkDir(e.repo.files, root, func(name string, d fs.DirEntry, err error) error {
		switch below := strings.TrimPrefix(name, root+"/"); {
		case errors.Is(err, fs.ErrNotExist) && name == root:
			return fs.SkipAll
		case err != nil:
			return diag.New(diag.Pos{File: name}, "cannot be read: %v", reason(err)).WithCause(err)
		case d.IsDir(), path.Ext(name) != ".yaml", rendered.ForCluster(below):
			return nil
		}
		data, err := e.repo.files.ReadFile(name)
		if err != nil {
			return diag.New(diag.Pos{File: name}, "cannot be read: %v", reason(err)).WithCause(err)
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
func (e *environment) hasKey(ctx context.Context, name string, block *sopsage.Block, operator *sopsage.DataKey) bool {
	if operator == nil {
		return false
	}
	key, err := e.keys.BlockKey(ctx, name, block)
	return err == nil && key.Equal(operator)
}
