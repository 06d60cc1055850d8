package render

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/render/internal/tree"
)

// Difference is a file that is not as the lock of a rendered tree says.
type Difference = tree.Difference

// Check tells, without any key, what differs from the last render: inputs that
// changed since, and rendered files that were changed, added or removed by
// hand. Whether the lock itself is the one that a render wrote, only its seal
// can tell: see [Repo.Renew].
func (r *Repo) Check(env string) ([]Difference, error) {
	_, differences, err := r.compare(env)
	return differences, err
}

// compare reads the lock and compares it with the files.
func (r *Repo) compare(env string) (*rendered.Lock, []Difference, error) {
	if err := r.src.CheckLinks(env); err != nil {
		return nil, nil, err
	}
	paths, err := r.src.Inputs(env)
	if err != nil {
		return nil, nil, err
	}
	if err := r.src.CheckPlaintext(env, paths); err != nil {
		return nil, nil, err
	}
	lock, err := r.src.ReadLock(env)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, []Difference{{Path: rendered.LockName, Kind: tree.Removed, Output: true}}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	inputs, err := tree.DigestFiles(r.src.Root(), paths)
	if err != nil {
		return nil, nil, err
	}
	differences, err := tree.Check(lock, inputs, r.src.TreeDir(env))
	return lock, differences, r.src.Local(err)
}

// Renew renders what changed since the last render, and takes the rest over from its
// tree; the result is that of [Repo.Render]. It is nil if a render would change
// nothing: the lock names the inputs and outputs as they are, this version of
// talosgen wrote it in the present format, and its seal is genuine. A seal of an
// unchanged tree that is not genuine is an error. A lock in which a merge left a
// conflict is made anew.
func (r *Repo) Renew(ctx context.Context, env string) (*Result, error) {
	if err := tree.Recover(r.src.TreeDir(env)); err != nil {
		return nil, r.src.Local(err)
	}
	e, err := r.src.ReadEnvironment(env)
	if err != nil {
		return nil, err
	}
	if err := e.CheckPlaintext(); err != nil {
		return nil, err
	}
	last, err := tree.OpenWritten(r.src.TreeDir(env), r.src.Process.Version)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, rendered.ErrConflict) {
		return nil, r.src.Local(err)
	}
	if last != nil && last.Complete() && last.Lock.Talosgen == r.src.Process.Version && !last.Lock.Outdated() && last.ReadFrom(e.Inputs) {
		return nil, r.verifySeal(ctx, env, last.Lock)
	}
	return r.render(ctx, e, Options{}, last)
}

// verifySeal reads what the seal's key is made from, and nothing else.
func (r *Repo) verifySeal(ctx context.Context, env string, lock *rendered.Lock) error {
	e, err := r.src.ReadPart(env, source.ClusterFile, source.KeyringFile, source.SecretsName)
	if err != nil {
		return err
	}
	if err := e.FindKeys(); err != nil {
		return err
	}
	s := &source.Secrets{Variables: subst.Vars{}}
	if err := e.OpenOperator(ctx, s); err != nil {
		return err
	}
	err = lock.VerifySeal(s.Operator.Derive(rendered.SealLabel))
	if err != nil {
		if err := e.CheckContinuity(ctx, s.Operator); err != nil {
			return err
		}
	}
	if p := (*diag.Problem)(nil); errors.As(err, &p) {
		p.Pos.File = path.Join(source.RenderedDir, env, rendered.LockName)
		p.Hint = strings.ReplaceAll(p.Hint, "<env>", env)
	}
	return err
}
