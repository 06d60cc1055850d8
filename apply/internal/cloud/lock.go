package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/internal/lockheld"
	"github.com/talosgen/talosgen/apply/internal/turn"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

const (
	// lockTime is how long a lock lasts without renewal. It is renewed with the
	// first request after a third of it.
	lockTime = 10 * time.Minute
	// lockMargin is how long before its end a lock is not trusted any more: a
	// call that is sent then could have its effect after the end.
	lockMargin = requestTimeout + 30*time.Second
	// lockTries bounds how often an expired lock is taken over, while others try
	// the same.
	lockTries = 5
	// giveBackWithin is how long it may take to give back what an interrupted run
	// may have been given.
	giveBackWithin = 5 * time.Second
)

// Holder is who holds the lock of a cluster.
type Holder struct {
	ID      int64 // of the firewall that is the lock
	Owner   string
	Run     string
	Expires time.Time // by Hetzner's clock
}

// Lock is the right to change a cluster: a firewall without rules whose name
// only one can have. While it is held, every request of the client renews it
// when it is time, and nothing is written once it has expired.
type Lock struct {
	client *Client
	run    Run

	turn   turn.Turn // of who renews it
	marker marker
	lost   error // why it is not held any more
}

// lockName is the name that only one firewall of a project can have.
func lockName(cluster string) string { return cluster + "-apply-lock" }

// Acquire takes the lock of the run's cluster. If another run holds it the
// error names it, and has the exit code [diag.Conflict]. A lock that has expired
// is taken over: it is deleted by its id, so that of several runs that do this
// none deletes the new lock of another, and the creation decides who wins.
func (c *Client) Acquire(ctx context.Context, run Run) (*Lock, error) {
	what := "lock of the cluster " + run.Cluster
	for n := range lockTries {
		expires, err := c.expiry(ctx, lockTime)
		if err != nil {
			return nil, explain(what, "read the time", err)
		}
		m, err := c.createMarker(ctx, run, hcloud.FirewallCreateOpts{
			Name: lockName(run.Cluster), Labels: run.labels(schemas.ComponentLock, expires),
		})
		if err == nil {
			l := &Lock{client: c, run: run, marker: m}
			c.wire.hold(l)
			return l, nil
		}
		if ctx.Err() != nil || !Stale(err) {
			var problems diag.List
			problems.AddErr(explain(what, "take it", err))
			problems.AddErr(c.giveBack(ctx, run))
			return nil, problems.Err()
		}
		holder, err := c.Holder(ctx, run.Cluster)
		if err != nil {
			return nil, err
		}
		if holder == nil || holder.Run == labelValue(run.ID) && c.ServerTime().Before(holder.Expires) {
			// It was released meanwhile, or what was read is older than what was made.
			if err := c.clock.Sleep(ctx, backoff(n, firstPoll, mostPoll, 1)); err != nil {
				return nil, errors.Join(explain(what, "take it", err), c.giveBack(ctx, run))
			}
			continue
		}
		if c.ServerTime().Before(holder.Expires) {
			return nil, lockheld.By(what, holder.Owner, holder.Expires, c.ServerTime())
		}
		if err := c.deleteLock(ctx, run.Cluster, holder.ID, "take it over"); err != nil {
			return nil, err
		}
	}
	return nil, diag.On(what, "too many runs want it").WithCode(diag.Conflict).WithHint("wait until the others are done")
}

// giveBack frees a lock that a run may have been given though it was interrupted, or
// was told otherwise: nobody would else have it until it expires.
func (c *Client) giveBack(ctx context.Context, run Run) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackWithin)
	defer cancel()
	holder, err := c.Holder(ctx, run.Cluster)
	if err != nil || holder == nil || holder.Run != labelValue(run.ID) {
		return err
	}
	return c.deleteLock(ctx, run.Cluster, holder.ID, "give it back")
}

// deleteLock deletes one lock, and never the next one of that name; what says what
// that is for.
func (c *Client) deleteLock(ctx context.Context, cluster string, id int64, what string) error {
	_, err := c.api.Firewall.Delete(ctx, &hcloud.Firewall{ID: id})
	return explain("lock of the cluster "+cluster, what, done(err))
}

// Holder returns who holds the lock of a cluster, or held it last and did not
// release it; nil if it is free.
func (c *Client) Holder(ctx context.Context, cluster string) (*Holder, error) {
	f, _, err := c.api.Firewall.GetByName(ctx, lockName(cluster))
	what := "lock of the cluster " + cluster
	switch {
	case err != nil:
		return nil, explain(what, "read it", err)
	case f == nil:
		return nil, nil
	case f.Labels[schemas.LabelCluster] != cluster || f.Labels[schemas.LabelComponent] != schemas.ComponentLock:
		return nil, diag.On(what, "the firewall %s is something else", f.Name).WithCode(diag.Conflict).
			WithHint("rename it: talosgen uses the name for its lock")
	}
	m := markerFrom(f)
	return &Holder{ID: m.id, Owner: m.labels[labelOwner], Run: m.labels[labelRun], Expires: m.expires}, nil
}

// Unlock takes the lock of a cluster from a run that is dead. It returns who
// held it; nil if it was free.
func (c *Client) Unlock(ctx context.Context, cluster string) (*Holder, error) {
	holder, err := c.Holder(ctx, cluster)
	if err != nil || holder == nil {
		return nil, err
	}
	return holder, c.deleteLock(ctx, cluster, holder.ID, "remove it")
}

// Release gives the lock back. One that was lost is left to whoever has it.
func (l *Lock) Release(ctx context.Context) error {
	l.client.wire.hold(nil)
	leave, err := l.turn.Take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	err = l.client.deleteLock(ctx, l.run.Cluster, l.marker.id, "release it")
	var problem *diag.Problem
	if errors.As(err, &problem) {
		problem.Hint = strings.TrimPrefix(fmt.Sprintf("%s\nit keeps other runs out until %s",
			problem.Hint, l.marker.expires.UTC().Format(time.RFC3339)), "\n")
	}
	return err
}

// Keep renews the lock if it is time, and fails if it is not held any more. The
// client does it with each request; who waits long without any calls it.
func (l *Lock) Keep(ctx context.Context) error {
	leave, err := l.turn.Take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if l.lost != nil {
		return l.lost
	}
	now, last := l.client.ServerTime(), l.marker.expires.Add(-lockMargin)
	if !now.After(last) && now.Before(l.marker.expires.Add(-lockTime+lockTime/3)) {
		return nil
	}
	// Who takes it over deletes what had expired. A renewal after that moment
	// would let two runs believe that they hold it.
	err = l.client.renewMarker(renewal(ctx, last), &l.marker, now.Add(lockTime))
	switch {
	case errors.Is(err, errExpired):
		l.lost = l.notHeld("it expired at %s", l.marker.expires.UTC().Format(time.RFC3339))
		return l.lost
	case gone(err):
		l.lost = l.notHeld("it was removed")
		return l.lost
	}
	return explain("lock of the cluster "+l.run.Cluster, "renew it", err)
}

var errExpired = errors.New("the lock has expired")

func (l *Lock) notHeld(format string, args ...any) error {
	return diag.On("lock of the cluster "+l.run.Cluster, "this run does not hold it any more: %s", fmt.Sprintf(format, args...)).
		WithCode(diag.Conflict).
		WithHint("another run may be at work, so nothing more is written\nrun the same command again: it goes on where this run stopped")
}

// lastKey is the key of the time of Hetzner's clock after which a request must
// not be sent any more: that of a renewal.
type lastKey struct{}

func renewal(ctx context.Context, last time.Time) context.Context {
	return context.WithValue(ctx, lastKey{}, last)
}

// hold makes every request keep a lock; nil for none.
func (t *transport) hold(l *Lock) { t.lock.Store(l) }

// keep renews the lock before a request, if there is one. Without the lock what
// only reads goes on.
func (t *transport) keep(req *http.Request) error {
	if last, is := req.Context().Value(lastKey{}).(time.Time); is {
		if t.serverTime().After(last) {
			return errExpired
		}
		return nil
	}
	l := t.lock.Load()
	if l == nil {
		return nil
	}
	if err := l.Keep(req.Context()); err != nil && req.Method != http.MethodGet {
		return err
	}
	return nil
}
