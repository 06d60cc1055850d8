package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

// Clock is the passing of time.
type Clock interface {
	Now() time.Time
	// Sleep waits, or until the context ends, whose error it returns then.
	Sleep(ctx context.Context, d time.Duration) error
}

// notYetError is what a check returns that found the node well, but not ready.
type notYetError struct{ state string }

// Error is the state.
func (e *notYetError) Error() string { return e.state }

// NotYet is the error of a check, for [Wait], that has found nothing wrong but
// has to be made again.
func NotYet(format string, args ...any) error {
	return &notYetError{fmt.Sprintf(format, args...)}
}

// Patience is how often and how long to look.
type Patience struct {
	Every, Within time.Duration
	// The pause between looks grows to this; 0: it stays.
	Most time.Duration
}

// steady is how many looks have the same pause between them.
const steady = 8

// Pause is how long to wait for the next look after some.
func (p Patience) Pause(polls int) time.Duration {
	return max(p.Every, min(p.Most, p.Every*time.Duration(1+polls/steady)))
}

// Wait makes a check until it succeeds. A node that is away for a while is no
// reason to end; the last thing that was seen is in the error, whose exit code
// is [diag.NotReady].
func Wait(ctx context.Context, clock Clock, p Patience, node, what string, check func(context.Context) error) error {
	return WaitFor(ctx, clock, p, "node "+node, what, check)
}

// WaitFor is [Wait] for an object that is no node.
func WaitFor(ctx context.Context, clock Clock, p Patience, object, what string, check func(context.Context) error) error {
	end := clock.Now().Add(p.Within)
	for polls := 0; ; polls++ {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !clock.Now().Before(end) {
			return tooLate(object, what, p.Within, err)
		}
		if err := clock.Sleep(ctx, p.Pause(polls)); err != nil {
			return err
		}
	}
}

func tooLate(object, what string, within time.Duration, err error) error {
	problem := diag.On(object, "not %s within %v: %s", what, within, first(err.Error())).WithCode(diag.NotReady).WithCause(err)
	var known *diag.Problem
	if errors.As(err, &known) {
		problem.Message = fmt.Sprintf("not %s within %v: %s", what, within, known.Message)
		problem.Hint = known.Hint
	}
	return problem
}

// WaitStage waits until the node is in one of the stages. A control plane that
// has its configuration is [StageBooting] until there is an etcd: only then it is
// [StageRunning].
func (c *Client) WaitStage(ctx context.Context, clock Clock, p Patience, stages ...string) error {
	return Wait(ctx, clock, p, c.target.Name, strings.Join(stages, " or "), func(ctx context.Context) error {
		s, err := c.Status(ctx)
		if err == nil && !slices.Contains(stages, s.Stage) {
			return NotYet("it is %s", s.Stage)
		}
		return err
	})
}

// WaitReboot waits until the node runs again, with another boot id than before.
// That it answers is not enough: it does so too before it goes down.
func (c *Client) WaitReboot(ctx context.Context, clock Clock, p Patience, before string) error {
	return Wait(ctx, clock, p, c.target.Name, "back after its reboot", func(ctx context.Context) error { return c.Rebooted(ctx, before) })
}

// Rebooted is nil once the node runs in another boot than before; see [NotYet].
func (c *Client) Rebooted(ctx context.Context, before string) error {
	id, err := c.BootID(ctx)
	if err != nil {
		return err
	}
	if id == before {
		return NotYet("it has not gone down yet")
	}
	s, err := c.Status(ctx)
	if err == nil && s.Stage != StageRunning {
		return NotYet("it is %s", s.Stage)
	}
	return err
}
