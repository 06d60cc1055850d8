package apply

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/lockheld"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
)

// releaseWithin is how long giving the lock back may take, also after an
// interrupt.
const releaseWithin = 30 * time.Second

// keepingClock keeps the lock while something is waited for that asks nothing of
// Hetzner Cloud.
type keepingClock struct {
	cloud.Clock
	held *heldLock
}

// Sleep waits, and fails once the lock is lost.
func (k keepingClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := k.Clock.Sleep(ctx, d); err != nil {
		return err
	}
	return k.held.keep(ctx)
}

// lockPlace is where the lock of a cluster is.
type lockPlace interface {
	// holder returns who holds it, or held it and did not release it; nil if it is
	// free.
	holder(ctx context.Context) (*cloud.Holder, error)
	// unlock takes it from a run that is dead, and returns who held it.
	unlock(ctx context.Context) (*cloud.Holder, error)
	// acquire takes it; nil if there is no place for it yet.
	acquire(ctx context.Context, owner Owner, stage progress.Stage) (lock, error)
	// clean removes what dead runs left behind, with the lock taken.
	clean(ctx context.Context) error
}

// locker takes the lock of a cluster for a run, and gives it back.
type locker struct {
	env   string // for what is suggested
	place lockPlace
	held  *heldLock
	log   *runLog
	owner Owner // of the run that holds it
}

// locked runs something while this run holds the lock of the cluster. What dead
// runs left behind is removed first.
func (l *locker) locked(ctx context.Context, owner Owner, do func() error) (err error) {
	l.owner = owner
	if err := l.log.stage("lock", 0, func(stage progress.Stage) error { return l.acquire(ctx, stage) }); err != nil {
		return err
	}
	l.held.changing = true
	defer func() {
		l.held.changing = false
		var problems diag.List
		problems.AddErr(err)
		problems.AddErr(l.release(ctx))
		err = problems.Err()
	}()
	if err := l.place.clean(ctx); err != nil {
		return err
	}
	return do()
}

// acquire takes the lock, unless this run has it. Of machines that exist already
// there is none before their Kubernetes serves.
func (l *locker) acquire(ctx context.Context, stage progress.Stage) error {
	if l.held.lock != nil {
		return nil
	}
	taken, err := l.place.acquire(ctx, l.owner, stage)
	if err == nil {
		l.held.lock = taken
		return nil
	}
	if errors.Is(err, lockheld.Err) {
		return l.unlockable(err, "if you are sure that it is dead")
	}
	return err
}

// unlockable is an error of a lock with the command that removes it.
func (l *locker) unlockable(err error, when string) error {
	if problem := (*diag.Problem)(nil); errors.As(err, &problem) {
		problem.Hint = strings.TrimPrefix(problem.Hint+"\n"+when+": talosgen unlock "+l.env, "\n")
	}
	return err
}

// release gives the lock back, if there is one. It does so after an interrupt
// too: the lock would keep others out for minutes.
func (l *locker) release(ctx context.Context) error {
	held := l.held.lock
	if l.held.lock = nil; held == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	err := held.Release(ctx)
	if kept := (*kube.NotReleased)(nil); errors.As(err, &kept) {
		// What the run was for is done or failed without it, and the lock expires.
		l.log.warn("lock", "release the lock", oneLine(err)+"; to remove it before: talosgen unlock "+l.env)
		return nil
	}
	return l.unlockable(err, "to remove it before")
}

// projectLock is the lock of a cluster at Hetzner Cloud.
type projectLock struct {
	project *cloud.Client
	cluster string
	open    *sessionAccess
}

func (p projectLock) holder(ctx context.Context) (*cloud.Holder, error) {
	return p.project.Holder(ctx, p.cluster)
}

func (p projectLock) unlock(ctx context.Context) (*cloud.Holder, error) {
	return p.project.Unlock(ctx, p.cluster)
}

func (p projectLock) acquire(ctx context.Context, owner Owner, _ progress.Stage) (lock, error) {
	taken, err := p.project.Acquire(ctx, owner.in(p.cluster))
	if err != nil {
		return nil, err
	}
	return taken, nil
}

func (p projectLock) clean(ctx context.Context) error {
	if _, err := p.project.CollectSessions(ctx, p.cluster, p.open.session, false); err != nil {
		return err
	}
	if err := p.open.holdsLock(ctx); err != nil {
		return err
	}
	_, err := p.project.CollectBuilders(ctx, p.cluster)
	return err
}
