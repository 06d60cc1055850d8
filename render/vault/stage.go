package vault

import (
	"context"

	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// Stage makes the secret files of an environment that is in memory only, with the
// secrets that are given, and adds them to it. It writes nothing.
func Stage(ctx context.Context, e *source.Environment, given *secretsfile.Secrets) (*Report, error) {
	w := &writer{Environment: e, ctx: ctx, staged: true}
	if err := e.FindKeys(); err != nil {
		return nil, err
	}
	return w.fill(given)
}
