package render

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/render/internal/tree"
)

// Difference is a file that is not as the lock of a rendered tree says.
type Difference = tree.Difference

// Check tells, without any key, what differs from the last render: inputs that
// changed since, and rendered files that were changed, added or removed by
// hand. Whether the lock itself is the one that a render wrote, only its seal
// can tell: see [Repo.Fresh].
func (r *Repo) Check(env string) ([]Difference, error) {
	_, differences, err := r.compare(env)
	return differences, err
}

// compare reads the lock and compares it with the files.
func (r *Repo) compare(env string) (*rendered.Lock, []Difference, error) {
	if err := r.checkLinks(env); err != nil {
		return nil, nil, err
	}
	paths, err := r.inputs(env)
	if err != nil {
		return nil, nil, err
	}
	if err := r.checkPlaintext(env, paths); err != nil {
		return nil, nil, err
	}
	lock, err := r.readLock(env)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, []Difference{{Path: rendered.LockName, Kind: tree.Removed, Output: true}}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	inputs, err := tree.DigestFiles(r.root, paths)
	if err != nil {
		return nil, nil, err
	}
	differences, err := tree.Check(lock, inputs, r.tree(env))
	return lock, differences, r.local(err)
}

// checkPlaintext refuses secrets in the clear among the sources of an
// environment, of which it reads the encrypted ones alone.
func (r *Repo) checkPlaintext(env string, paths []string) error {
	e := &environment{repo: r, name: env, paths: paths, raw: map[string][]byte{}}
	var problems diag.List
	for _, file := range paths {
		if !sopsage.NamedEncrypted(file) && !slices.Contains(plainBundles, path.Base(file)) {
			continue
		}
		data, err := r.files.ReadFile(file)
		if err != nil {
			problems.Add(diag.New(diag.Pos{File: file}, "cannot be read: %v", reason(err)).WithCause(err))
			continue
		}
		e.raw[file] = data
	}
	if err := problems.Err(); err != nil {
		return err
	}
	return e.checkPlaintext()
}

func (r *Repo) readLock(env string) (*rendered.Lock, error) {
	lock, err := tree.ReadLock(r.tree(env), r.world.Version)
	return lock, r.local(err)
}

// Fresh reports whether a render would change nothing: the lock names the
// inputs and outputs as they are, this version of talosgen wrote it in the
// present format, and its seal is genuine. Then there is nothing to render. It needs the keys of the
// environment; a seal that is not genuine is an error. A lock in which a
// merge left a conflict is not fresh: a render makes it anew.
func (r *Repo) Fresh(ctx context.Context, env string) (bool, error) {
	if err := tree.Recover(r.tree(env)); err != nil {
		return false, r.local(err)
	}
	lock, differences, err := r.compare(env)
	if errors.Is(err, rendered.ErrConflict) {
		return false, nil
	}
	if err != nil || lock == nil || len(differences) > 0 || lock.Talosgen != r.world.Version || lock.Outdated() {
		return false, err
	}
	if err := r.verifySeal(ctx, env, lock); err != nil {
		return false, err
	}
	return true, nil
}

// verifySeal reads what the seal's key is made from, and nothing else.
func (r *Repo) verifySeal(ctx context.Context, env string, lock *rendered.Lock) error {
	e := &environment{repo: r, name: env, raw: map[string][]byte{}}
	for _, name := range []string{clusterFile, keyringFile, secretsName} {
		file := e.path(name)
		data, err := r.files.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return diag.New(diag.Pos{File: file}, "cannot be read: %v", reason(err)).WithCause(err)
		}
		if err == nil {
			e.raw[file] = data
		}
	}
	if err := e.findKeys(); err != nil {
		return err
	}
	s := &secrets{variables: subst.Vars{}}
	if err := e.openOperator(ctx, s); err != nil {
		return err
	}
	err := lock.VerifySeal(s.operator.Derive(rendered.SealLabel))
	if err != nil && !r.newKeys {
		if err := e.checkContinuity(ctx, s.operator); err != nil {
			return err
		}
	}
	if p := (*diag.Problem)(nil); errors.As(err, &p) {
		p.Pos.File = path.Join(renderedDir, env, rendered.LockName)
		p.Hint = strings.ReplaceAll(p.Hint, "<env>", env)
	}
	return err
}
