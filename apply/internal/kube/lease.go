package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/talosgen/talosgen/apply/internal/lockheld"
	"github.com/talosgen/talosgen/apply/internal/turn"
	"github.com/talosgen/talosgen/internal/diag"
)

const (
	// leaseTime is how long a lock lasts without renewal. It is renewed when a
	// third of it is over, so it outlives a control plane that reboots.
	leaseTime = 15 * time.Minute
	// leaseMargin is how long before its end a lock is not trusted any more.
	leaseMargin = time.Minute
	// leaseTries bounds how often it is tried while others try the same.
	leaseTries = 5
	// giveBackWithin is how long it may take to give back what an interrupted run
	// may have been given.
	giveBackWithin = 5 * time.Second
	// leaseNamespace is where locks are: every cluster has this namespace.
	leaseNamespace = "kube-system"
)

var leases = resource{coordinationv1.SchemeGroupVersion.WithResource("leases"), true}

// Holder is who holds a lock.
type Holder struct {
	Owner   string // for people: user and machine
	Run     string // what no other run has; it has no spaces
	Expires time.Time
}

// identity is the holder as a Lease names it.
func (h Holder) identity() string { return h.Owner + " " + h.Run }

// Lease is a lock in Kubernetes: the right to change the cluster, which only one
// run has. It is a Lease as controllers use them; the API server takes no change
// of it that was made from an older one, so of several runs one wins.
type Lease struct {
	name    string
	own     Holder
	connect func(context.Context) (*Client, error)

	turn   turn.Turn // of who renews it
	client *Client
	live   coordinationv1.Lease
	lost   error // why it is not held any more
}

// AcquireLease takes the lock of a name. If another run holds it the error names
// it, and has the exit code [diag.Conflict]. One that has expired is taken over.
// connect makes a client for each time that the lock is renewed: it may be held
// for longer than a certificate is valid.
func AcquireLease(ctx context.Context, name string, own Holder, connect func(context.Context) (*Client, error)) (*Lease, error) {
	c, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	l := &Lease{name: name, own: own, connect: connect, client: c}
	err = l.acquire(ctx)
	switch {
	case err == nil:
		return l, nil
	case ctx.Err() == nil || l.live.Name == "":
		c.Close()
		return nil, err
	}
	// Interrupted before the answer was there: it may say that this run has it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackWithin)
	defer cancel()
	if kept := l.Release(ctx); kept != nil {
		err = errors.Join(err, kept)
	}
	return nil, err
}

func (l *Lease) acquire(ctx context.Context) error {
	c, name := l.client, l.name
	for n := range leaseTries {
		if n > 0 { // others want it too
			if err := c.conn.clock.Sleep(ctx, pauseBefore(n-1)); err != nil {
				return err
			}
		}
		live, err := readLease(ctx, c, name)
		if err != nil {
			return err
		}
		if live == nil {
			live = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: leaseNamespace}}
		}
		if h := holder(live); h != nil && h.identity() != l.own.identity() && c.ServerTime().Before(h.Expires) {
			return lockheld.By("lock "+name, h.Owner, h.Expires, c.ServerTime())
		}
		l.live = *live
		if err = l.write(ctx); !conflicts(err) {
			return err
		}
	}
	return diag.On("lock "+name, "too many runs want it").WithCode(diag.Conflict).WithHint("wait until the others are done")
}

// LeaseHolder returns who holds the lock of a name, or held it last and did not
// give it back; nil if it is free.
func (c *Client) LeaseHolder(ctx context.Context, name string) (*Holder, error) {
	live, err := readLease(ctx, c, name)
	if err != nil || live == nil {
		return nil, err
	}
	return holder(live), nil
}

// FreeLease takes the lock of a name from a run that is dead. It returns who held
// it; nil if it was free.
func (c *Client) FreeLease(ctx context.Context, name string) (*Holder, error) {
	live, err := readLease(ctx, c, name)
	if err != nil || live == nil {
		return nil, err
	}
	h := holder(live)
	if h == nil {
		return nil, nil
	}
	l := &Lease{client: c, name: name, live: *live}
	return h, l.free(ctx)
}

// NotReleased is the error of a lock that could not be given back, since no API
// answers that keeps it: it expires.
type NotReleased struct {
	Name    string
	Expires time.Time // by the clock of the API
	Err     error     // why the API does not answer
}

// Error says until when the lock keeps other runs out, and why.
func (e *NotReleased) Error() string {
	return fmt.Sprintf("lock %s: the Kubernetes API does not answer, so it keeps other runs out until %s: %v",
		e.Name, e.Expires.UTC().Format(time.RFC3339), e.Err)
}

// Unwrap returns why the API does not answer.
func (e *NotReleased) Unwrap() error { return e.Err }

// Release gives the lock back. One that was lost, or has expired, is left to whoever
// has it. If no API answers the error is a [NotReleased].
func (l *Lease) Release(ctx context.Context) error {
	leave, err := l.turn.Take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	defer func() { l.client.Close() }()
	err = l.update(ctx, (*Lease).free)
	if l.lost != nil || conflicts(err) {
		return nil
	}
	if !Unavailable(err) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	now := l.client.ServerTime()
	expires := now.Add(leaseTime) // at the latest, if it is not known what was stored
	if h := holder(&l.live); h != nil && h.identity() == l.own.identity() {
		expires = h.Expires
	}
	if !now.Before(expires) {
		return nil
	}
	return &NotReleased{Name: l.name, Expires: expires, Err: err}
}

// Keep renews the lock if it is time, and fails if it is not held any more. As
// long as it has not expired, an API that does not answer is no reason to fail:
// control planes reboot.
func (l *Lease) Keep(ctx context.Context) error {
	leave, err := l.turn.Take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if l.lost != nil {
		return l.lost
	}
	now, expires := l.client.ServerTime(), holder(&l.live).Expires
	if now.Before(expires.Add(-leaseTime + leaseTime/3)) {
		return nil
	}
	err = l.update(ctx, (*Lease).write)
	switch {
	case err == nil, l.lost != nil, ctx.Err() != nil:
		return err
	case now.Before(expires.Add(-leaseMargin)):
		return nil // there is time to try again
	}
	l.lost = l.notHeld("it could not be renewed before it expired: %v", err)
	return l.lost
}

// update changes the lock over a new connection. If it is not as this run knows
// it, it is looked at: an answer may have been lost.
func (l *Lease) update(ctx context.Context, change func(*Lease, context.Context) error) error {
	if err := l.reconnect(ctx); err != nil {
		return err
	}
	err := change(l, ctx)
	if !conflicts(err) && !absent(err) {
		return err
	}
	if err := l.adopt(ctx); err != nil {
		return err
	}
	return change(l, ctx)
}

// reconnect makes a new client, which knows the time that the old one has learned.
func (l *Lease) reconnect(ctx context.Context) error {
	next, err := l.connect(ctx)
	if err != nil {
		return err
	}
	next.conn.skew.Store(l.client.conn.skew.Load())
	l.client.Close()
	l.client = next
	return nil
}

// adopt looks who has changed the lock: this run itself, if an answer was lost.
func (l *Lease) adopt(ctx context.Context) error {
	live, err := readLease(ctx, l.client, l.name)
	if err != nil {
		return err
	}
	if live != nil {
		h := holder(live)
		if h != nil && h.identity() == l.own.identity() {
			l.live = *live
			return nil
		}
		if h != nil {
			l.lost = l.notHeld("%s has it", h.Owner)
			return l.lost
		}
	}
	l.lost = l.notHeld("it was removed")
	return l.lost
}

func (l *Lease) notHeld(format string, args ...any) error {
	return diag.On("lock "+l.name, "this run does not hold it any more: %s", fmt.Sprintf(format, args...)).WithCode(diag.Conflict).
		WithHint("another run may be at work, so nothing more is written\nrun the same command again: it goes on where this run stopped")
}

// write makes this run the holder, from now on.
func (l *Lease) write(ctx context.Context) error {
	next := l.live.DeepCopy()
	now := metav1.NewMicroTime(l.client.ServerTime())
	seconds, identity := int32(leaseTime/time.Second), l.own.identity()
	if h := holder(next); h == nil || h.identity() != identity {
		next.Spec.AcquireTime = &now
	}
	next.Spec.HolderIdentity, next.Spec.LeaseDurationSeconds, next.Spec.RenewTime = &identity, &seconds, &now
	return l.put(ctx, next)
}

// free makes nobody the holder.
func (l *Lease) free(ctx context.Context) error {
	next := l.live.DeepCopy()
	next.Spec.HolderIdentity = new("")
	return l.put(ctx, next)
}

// put stores the lock, unless somebody has changed it meanwhile.
func (l *Lease) put(ctx context.Context, next *coordinationv1.Lease) error {
	next.ManagedFields = nil
	next.TypeMeta = metav1.TypeMeta{APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease"}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(next)
	if err != nil {
		return err
	}
	api, u := l.client.in(leases, leaseNamespace), &unstructured.Unstructured{Object: object}
	var stored map[string]any
	if next.ResourceVersion == "" {
		stored, err = api.create(ctx, u)
	} else {
		stored, err = api.update(ctx, u)
	}
	if err != nil {
		return err
	}
	l.live = coordinationv1.Lease{}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(stored, &l.live)
}

// readLease reads the lock of a name; nil if there is none.
func readLease(ctx context.Context, c *Client, name string) (*coordinationv1.Lease, error) {
	found, err := c.in(leases, leaseNamespace).get(ctx, name)
	switch {
	case absent(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var live coordinationv1.Lease
	return &live, runtime.DefaultUnstructuredConverter.FromUnstructured(found, &live)
}

// holder is who holds a lock; nil for nobody.
func holder(l *coordinationv1.Lease) *Holder {
	if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" {
		return nil
	}
	h := Holder{Owner: *l.Spec.HolderIdentity}
	if i := strings.LastIndex(h.Owner, " "); i >= 0 {
		h.Owner, h.Run = h.Owner[:i], h.Owner[i+1:]
	}
	if s := l.Spec; s.RenewTime != nil && s.LeaseDurationSeconds != nil {
		h.Expires = s.RenewTime.Add(time.Duration(*s.LeaseDurationSeconds) * time.Second)
	}
	return &h
}

// conflicts reports whether somebody has changed, or made, an object meanwhile.
func conflicts(err error) bool {
	r := refused(err)
	return r != nil && r.status == http.StatusConflict
}
