package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/talosgen/talosgen/schemas"
)

// Within is how long a run that has ended waits until others are told, in all.
const Within = 10 * time.Second

// Options are who is told, and by what.
type Options struct {
	Targets schemas.RunNotifications
	Forge   Forge  // that of the commit status
	Commit  string // that gets one; empty: none does
	// Whether those alone are told that are on this machine: the run is a simulation.
	OnlyHere bool
	HTTP     http.RoundTripper
	Sleep    func(ctx context.Context, d time.Duration) error
	Within   time.Duration // zero: [Within]
	Agent    string        // what requests say they come from
}

// Notifier tells targets of one run.
type Notifier struct {
	Options
	targets []*target
	// Why some are not told at all.
	problems []error

	begun  sync.WaitGroup
	cancel context.CancelFunc
}

// New prepares to tell of a run. What is wrong with a target comes out at the end.
func New(o Options) *Notifier {
	t := &Notifier{Options: o, cancel: func() {}}
	if t.Within == 0 {
		t.Within = Within
	}
	add := func(to *target, err error) {
		switch {
		case err != nil:
			t.problems = append(t.problems, err)
		case !o.OnlyHere || schemas.OnThisMachine(to.url):
			t.targets = append(t.targets, to)
		}
	}
	for _, w := range o.Targets.Webhooks {
		add(webhook(w))
	}
	if status := o.Targets.CommitStatus; status != nil && o.Commit != "" && (!o.OnlyHere || schemas.IsOnThisMachine(o.Forge.API)) {
		add(commitStatus(*status, o.Forge, o.Commit))
	}
	return t
}

// Targets are how many are to be told, those included that cannot be.
func (t *Notifier) Targets() int { return len(t.targets) + len(t.problems) }

// Begin tells that a run begins, and does not wait for it. Whoever is not told then is
// told how it ended.
func (t *Notifier) Begin(ctx context.Context, r Run) {
	ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for _, to := range t.targets {
		t.begun.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, t.Within)
			defer cancel()
			_ = t.send(ctx, to, r)
		})
	}
}

// End tells how a run ended, and returns within the bound. Nothing that was told before
// arrives later. The errors name hosts, and nothing else of URLs.
func (t *Notifier) End(ctx context.Context, r Run) []error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.Within)
	defer cancel()
	late := time.AfterFunc(t.Within/4, t.cancel)
	t.begun.Wait()
	late.Stop()
	t.cancel()
	failed := make([]error, len(t.targets))
	var ended sync.WaitGroup
	for i, to := range t.targets {
		ended.Go(func() {
			if err := t.send(ctx, to, r); err != nil {
				failed[i] = fmt.Errorf("%s %w", to, err)
			}
		})
	}
	ended.Wait()
	problems := slices.Clone(t.problems)
	for _, err := range failed {
		if err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}

// tries are how often somebody is told, who does not answer, or answers that it may be
// better later; pause is what is waited after the first.
const (
	tries = 3
	pause = 500 * time.Millisecond
)

// send tells one target of a run.
func (t *Notifier) send(ctx context.Context, to *target, r Run) error {
	for try := 1; ; try++ {
		err := t.once(ctx, to, r)
		if later := (&again{}); err == nil || !errors.As(err, &later) || try == tries || ctx.Err() != nil {
			return err
		}
		if t.Sleep(ctx, time.Duration(try)*pause) != nil {
			return err
		}
	}
}

// again is an error after which it may be better later.
type again struct{ error }

// once makes one request. Redirects are not followed: who gets the signature, and the
// token, is who was named.
func (t *Notifier) once(ctx context.Context, to *target, r Run) error {
	ctx, cancel := context.WithTimeout(ctx, t.Within*2/5)
	defer cancel()
	request, err := to.request(ctx, t.Agent, r)
	if err != nil {
		return errors.New("cannot be asked")
	}
	answer, err := t.HTTP.RoundTrip(request)
	if err != nil {
		return &again{errors.New(reason(err))}
	}
	defer answer.Body.Close()
	return to.judge(answer)
}
