package source

import (
	"context"
	"io"
	"time"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// Process is what a render needs from outside of the repository. Rendering
// itself depends on the keys only; clock and randomness are for new secrets.
type Process struct {
	Keys   sopsage.Env
	Now    func() time.Time
	Random io.Reader
	// Given returns a secret that whoever runs the program has set in the
	// environment, by the name of its variable; empty if there is none. New
	// secrets are taken from there, a render looks at none of it. It may be nil.
	Given func(name string) secret.String
	// ChartCache returns a chart or manifest by its SHA-256 in hex; [fs.ErrNotExist]
	// if there is none. Nil: what is not in the repository is not found.
	ChartCache func(digest string) ([]byte, error)
	// BoundTemplates returns a context that ends when the templates of a chart have
	// taken too much time or memory; its cause says which, as in "take more than 60
	// seconds". Nil: there is no bound.
	BoundTemplates func(context.Context) (context.Context, context.CancelFunc)
	// Masker learns every secret that is decrypted, so that whoever prints
	// messages can mask them.
	Masker *secret.Masker
	// Committed returns a file as it was last committed, also if it is gone since;
	// [fs.ErrNotExist] if it never was. Nil: there is no history to ask.
	Committed func(file string) ([]byte, error)
	// Version of talosgen, as in "0.1.0": it stands in locks.
	Version string
}
