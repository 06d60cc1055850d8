package vault

import (
	"context"
	"path"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// TalosCA names the rotation of the authority of the Talos API.
const TalosCA = secretsfile.TalosCA

// Phase is how far a rotation is in secrets.sops.yaml.
type Phase = rotation.Phase

// Rotate takes the authority of the Talos API one phase on, or back, in
// secrets.sops.yaml, and returns the phase that it is in after that.
func Rotate(ctx context.Context, r *render.Repo, env string, back bool) (report *Report, now Phase, err error) {
	if err := fixedNodes(r, env); err != nil && !back {
		return nil, "", err
	}
	type state = rotation.State[secretsfile.Authority]
	at := r.Repository().Process.Now()
	report, err = Edit(ctx, r, env, func(plain []byte) ([]byte, error) {
		file := path.Join(source.EnvsDir, env, source.SecretsName)
		return secretsfile.Rotate(file, plain, at.UTC().Format(time.DateOnly), func(s state) (state, error) {
			next, err := turn(s, back, at)
			now = next.Phase
			return next, err
		})
	})
	return report, now, err
}

// turn is the phase after, or before. An authority is made when a rotation begins.
func turn(s rotation.State[secretsfile.Authority], back bool, at time.Time) (rotation.State[secretsfile.Authority], error) {
	if back {
		before, err := s.Back()
		if err != nil {
			return s, diag.On(TalosCA, "%v", err).WithCode(diag.Conflict)
		}
		return before, nil
	}
	var fresh secretsfile.Authority
	if s.Phase == rotation.None {
		var err error
		if fresh.Certificate, fresh.Key, err = machine.NewTalosAuthority(at); err != nil {
			return s, err
		}
	}
	return s.Next(fresh), nil
}

// Rotating returns the phase of the rotation in secrets.sops.yaml, and the day on
// which it began; empty if none is under way.
func Rotating(ctx context.Context, r *render.Repo, env string) (now Phase, since string, err error) {
	w, err := newWriter(ctx, r, env)
	if err != nil {
		return "", "", err
	}
	have, err := w.current()
	if err != nil || have == nil || have.Rotation == nil {
		return "", "", err
	}
	return have.Rotation.Phase, have.Rotation.Since, nil
}

// fixedNodes refuses what apply cannot take through the phases: nodes that the
// autoscaler makes keep the configuration that they began with.
func fixedNodes(r *render.Repo, env string) error {
	if _, err := r.Repository().Files.Stat(path.Join(source.RenderedDir, env, "autoscaler")); err != nil {
		return nil
	}
	return diag.On(TalosCA, "%s has nodes that the cluster autoscaler makes: they keep the configuration that they began with, and would lose the others", env).
		WithHint("set the pools of the autoscaler to no nodes, apply, and remove them from cluster.yaml for as long as the rotation takes;\nor rotate by hand with `talosctl rotate-ca`, and take the new authority over").WithCode(diag.Conflict)
}
