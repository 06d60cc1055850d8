package apply

import (
	"context"
	"errors"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/progress"
	"github.com/talosgen/talosgen/internal/diag"
)

// releaseWithin is how long giving the lock back may take, also after an
// interrupt.
const releaseWithin = 30 * time.Second

// Holder is who holds the lock of a cluster.
type Holder = cloud.Holder

// lock is the right to change a cluster: a firewall at Hetzner Cloud, or a Lease in
// Kubernetes for machines that exist already.
type lock interface {
	// Keep renews it if it is time, and fails once it is somebody else's.
	Keep(ctx context.Context) error
	// Release gives it back.
	Release(ctx context.Context) error
}

// Holder returns who holds the lock of the cluster, or held it and did not
// release it; nil if it is free.
func (s *Session) Holder(ctx context.Context) (h *Holder, err error) {
	if s.project != nil {
		return s.project.Holder(ctx, s.env.Infrastructure.Cluster)
	}
	return s.leaseHolder(ctx, (*kube.Client).LeaseHolder)
}

// Unlock takes the lock of the cluster from a run that is dead. It returns who
// held it; nil if it was free.
func (s *Session) Unlock(ctx context.Context) (*Holder, error) {
	if s.project != nil {
		return s.project.Unlock(ctx, s.env.Infrastructure.Cluster)
	}
	return s.leaseHolder(ctx, (*kube.Client).FreeLease)
}

// locked runs something while this run holds the lock of the cluster. What dead
// runs left behind is removed first.
func (s *Session) locked(ctx context.Context, owner Owner, do func() error) (err error) {
	if err := s.stage("lock", 0, func(stage progress.Stage) error { return s.acquire(ctx, owner, stage) }); err != nil {
		return err
	}
	s.changing = true
	defer func() {
		s.changing = false
		var problems diag.List
		problems.AddErr(err)
		problems.AddErr(s.release(ctx))
		err = problems.Err()
	}()
	if s.project != nil {
		if _, err := s.project.CollectSessions(ctx, s.env.Infrastructure.Cluster, s.access, false); err != nil {
			return err
		}
		if s.access != nil {
			if err := s.access.HoldsLock(ctx); err != nil {
				return err
			}
		}
		if _, err := s.project.CollectBuilders(ctx, s.env.Infrastructure.Cluster); err != nil {
			return err
		}
	}
	return do()
}

// acquire takes the lock. Of machines that exist already there is none before
// their Kubernetes serves.
func (s *Session) acquire(ctx context.Context, owner Owner, stage progress.Stage) error {
	if s.project == nil {
		s.leaseOwner = owner
		return s.acquireLease(ctx, stage)
	}
	l, err := s.project.Acquire(ctx, s.run(owner))
	if err == nil {
		s.lock = l
	}
	return err
}

// release gives the lock back, if there is one. It does so after an interrupt
// too: the lock would keep others out for minutes.
func (s *Session) release(ctx context.Context) error {
	l := s.lock
	if s.lock = nil; l == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	err := l.Release(ctx)
	if kept := (*kube.NotReleased)(nil); errors.As(err, &kept) {
		// What the run was for is done or failed without it, and the lock expires.
		s.warn("lock", "release the lock", oneLine(err))
		return nil
	}
	return err
}

// warn tells of something that does not end the run, in a line that stays.
func (s *Session) warn(stage, step, text string) {
	if s.tell != nil {
		s.tell(Event{Stage: stage, Step: step, State: Failed, Text: text})
	}
}

// keepLock renews the lock, and fails once it is somebody else's.
func (s *Session) keepLock(ctx context.Context) error {
	if s.lock == nil {
		return ctx.Err()
	}
	return s.lock.Keep(ctx)
}
