package upgrade

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeeping: a call of 15 minutes keeps the lock, ends when it is lost, and has no
// other outcome than without.
func TestKeeping(t *testing.T) {
	errLock, errCall := errors.New("the lock is held by another run"), errors.New("the call failed")
	for _, c := range []struct {
		name      string
		lostAt    int // the time that the lock is kept at which it is lost; 0: never
		fails     error
		want      error
		kept      int
		interrupt time.Duration
	}{
		{name: "it works", kept: 44},
		{name: "it fails", fails: errCall, want: errCall, kept: 44},
		{name: "the lock is lost", lostAt: 3, want: errLock, kept: 3},
		{name: "it is interrupted", interrupt: 50 * time.Second, want: context.DeadlineExceeded, kept: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kept := 0
				u := &Upgrade{Keep: func(context.Context) error {
					if kept++; kept == c.lostAt {
						return errLock
					}
					return nil
				}}
				ctx, cancel := context.WithCancel(t.Context())
				if c.interrupt > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), c.interrupt)
				}
				defer cancel()
				err := u.keeping(ctx, func(ctx context.Context) error {
					select {
					case <-time.After(15*time.Minute - time.Second):
						return c.fails
					case <-ctx.Done():
						return ctx.Err()
					}
				})
				if !errors.Is(err, c.want) || kept != c.kept {
					t.Errorf("%v, and the lock was kept %d times; want %v and %d", err, kept, c.want, c.kept)
				}
			})
		})
	}
}
