// Package lockheld is the error of a lock that another run has, wherever it is kept.
package lockheld

import (
	"errors"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

// Err is the cause of what [By] returns.
var Err = errors.New("another run holds the lock")

// By says who holds a lock, and until when by the clock of the place where it is kept.
func By(lock, owner string, until, now time.Time) error {
	return diag.On(lock, "%s holds it, until %s (in %s)", owner, until.UTC().Format(time.RFC3339), until.Sub(now).Round(time.Second)).
		WithCode(diag.Conflict).WithCause(Err).
		WithHint("wait until that run is done, or has been dead for that long")
}
