package vault

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// Phase is how far a rotation is in secrets.sops.yaml.
type Phase = rotation.Phase

// Standing is the rotation that is under way in secrets.sops.yaml; its kind is empty
// if none is.
type Standing struct {
	Kind  rotation.Kind
	Phase Phase
	Since string // the day on which it began
}

// overlap is how long tokens live that the key before has signed: the kubelet renews
// those of pods within a day, and clients read them again.
const overlap = 48 * time.Hour

// Rotate takes a rotation one phase on, or back, in secrets.sops.yaml, and returns the
// phase that it is in after that.
func Rotate(ctx context.Context, r *render.Repo, env string, kind rotation.Kind, back bool) (report *Report, now Phase, err error) {
	at := r.Repository().Process.Now()
	if !back {
		if err := mayRotate(ctx, r, env, kind, at); err != nil {
			return nil, "", err
		}
	}
	type state = rotation.State[secretsfile.Authority]
	w, err := newWriter(ctx, r, env)
	if err != nil {
		return nil, "", err
	}
	var keyring []byte
	report, err = w.edit(func(plain []byte) ([]byte, error) {
		file := w.File(source.SecretsName)
		changed, err := secretsfile.Rotate(file, plain, kind, at.UTC().Format(time.DateOnly), func(s state) (state, error) {
			next, err := turn(s, kind, back, at, r.Repository().Process.Random)
			now = next.Phase
			return next, err
		})
		if err == nil {
			keyring, changed, err = w.clusterKeys(plain, changed)
		}
		return changed, err
	})
	if err == nil && keyring != nil {
		err = w.write(w.File(source.KeyringFile), keyring, false)
		report.Changed = w.changed
	}
	return report, now, err
}

// turn is the phase after, or before. An authority is made when a rotation begins.
func turn(s rotation.State[secretsfile.Authority], kind rotation.Kind, back bool, at time.Time, random io.Reader) (rotation.State[secretsfile.Authority], error) {
	if back {
		before, err := s.Back()
		if err != nil {
			return s, diag.On(string(kind), "%v", err).WithCode(diag.Conflict)
		}
		return before, nil
	}
	if s.Phase != rotation.None {
		return s.Next(secretsfile.Authority{}), nil
	}
	fresh, err := made(kind, s.Issuing, at, random)
	if err != nil {
		return s, err
	}
	return s.Next(fresh), nil
}

// made is what a rotation goes to.
func made(kind rotation.Kind, from secretsfile.Authority, at time.Time, random io.Reader) (fresh secretsfile.Authority, err error) {
	switch kind {
	case rotation.AgeKey:
		fresh.Key, _, err = sopsage.GenerateIdentity(random)
		return fresh, err
	case rotation.EncryptionKey:
		key, err := machine.NewEncryptionKey(random, from.Name)
		return secretsfile.Authority{Key: key.Secret, Name: key.Name}, err
	}
	fresh.Certificate, fresh.Key, err = machine.NewAuthority(kind, at)
	return fresh, err
}

// Rotating returns the rotation that is under way in secrets.sops.yaml.
func Rotating(ctx context.Context, r *render.Repo, env string) (Standing, error) {
	have, err := current(ctx, r, env)
	if err != nil || have == nil {
		return Standing{}, err
	}
	return Standing{have.Kind, have.Phase, have.Since}, nil
}

func current(ctx context.Context, r *render.Repo, env string) (*secretsfile.Rotation, error) {
	w, err := newWriter(ctx, r, env)
	if err != nil {
		return nil, err
	}
	have, err := w.current()
	if err != nil || have == nil {
		return nil, err
	}
	return have.Rotation, nil
}

// mayRotate refuses what apply cannot take through the phases, and to forget the
// service account key while tokens live that it has signed.
func mayRotate(ctx context.Context, r *render.Repo, env string, kind rotation.Kind, at time.Time) error {
	switch kind {
	case rotation.EncryptionKey, rotation.AgeKey:
		return nil // nodes that the autoscaler makes have no part in it
	case rotation.TalosCA, rotation.KubernetesCA:
		return ownAutoscaler(r, env, kind)
	}
	have, err := current(ctx, r, env)
	if err != nil || have == nil || have.Kind != kind || have.Phase != rotation.Issue {
		return err
	}
	began, err := time.Parse(time.DateOnly, have.Signs)
	if err != nil || at.Before(began.Add(24*time.Hour+overlap)) {
		return diag.On(string(kind), "pods have tokens of the old key still: the new one signs since %s", have.Signs).
			WithHint("wait two full days after that one: the kubelet renews the tokens of pods within a day; --abort goes back").WithCode(diag.Conflict)
	}
	return nil
}

// ownAutoscaler refuses what apply cannot take through the phases: nodes that something
// makes which it does not look after.
func ownAutoscaler(r *render.Repo, env string, kind rotation.Kind) error {
	there := func(dir ...string) (bool, error) {
		_, err := r.Repository().Files.Stat(path.Join(append([]string{source.RenderedDir, env}, dir...)...))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	pools, err := there("autoscaler")
	if err != nil || !pools {
		return err
	}
	switch kept, err := there("bootstrap", "cluster-autoscaler"); {
	case err != nil:
		return err
	case kept:
		return nil
	}
	return diag.On(string(kind), "%s has pools of the cluster autoscaler, and apply does not keep that: a node that it makes meanwhile may know the old authority alone, and would never join", env).
		WithHint("render with this talosgen, and apply, before the rotation begins").WithCode(diag.Conflict)
}
