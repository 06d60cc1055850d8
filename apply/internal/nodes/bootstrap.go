package nodes

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
)

// bootstrapper makes etcd.
type bootstrapper struct {
	controlPlanes
	*transition
}

// transition is what a run has done so far to make etcd.
type transition struct {
	notes    notebook
	uploaded string // the boot that has the snapshot of the recovery already
}

// step makes etcd, as a step of a plan.
func (b bootstrapper) step(ctx context.Context, _ *nodeplan.Plan, _ nodeplan.Step, notify func(string)) error {
	return b.bootstrap(ctx, notify)
}

// bootstrap makes etcd, if there is none, as the package bootstrap says. What a
// call answers is not believed: the next look is.
func (b bootstrapper) bootstrap(ctx context.Context, notify func(string)) error {
	var earlier bootstrap.Observation
	snapshot, err := b.snapshotID(ctx)
	if err != nil {
		return err
	}
	end := b.Clock.Now().Add(b.Patience.Etcd)
	for hurried, polls := 0, 0; ; polls++ {
		began := b.wall()
		now, err := b.etcdEverywhere(ctx, began)
		if err != nil {
			return err
		}
		d := bootstrap.Decide(now, earlier, snapshot)
		earlier = now
		switch d.Action {
		case bootstrap.Finished:
			return nil
		case bootstrap.Refuse:
			return diag.On("etcd", "%s", d.Reason).WithHint("%s", d.Hint).WithCode(diag.Remote)
		}
		if err := b.keep(ctx); err != nil {
			return err
		}
		if err := b.carryOut(ctx, d, now, began, notify); err != nil {
			return err
		}
		// Most of what is decided at once is true at once. If not, what was recorded
		// is read late, and every look costs requests.
		if hurried++; !slices.Contains(quick, d.Action) {
			hurried = 0
		} else if hurried <= hurries {
			continue
		}
		if !b.Clock.Now().Before(end) {
			return diag.On("etcd", "not bootstrapped within %v: %s", b.Patience.Etcd, d.Reason).WithHint("%s", d.Hint).WithCode(diag.NotReady)
		}
		for range 1 + min(max(0, hurried-hurries), mostPauses) {
			if err := b.pause(ctx, polls); err != nil {
				return err
			}
		}
	}
}

// quick are the decisions after which there is nothing to wait for.
var quick = []bootstrap.Action{bootstrap.ObserveAgain, bootstrap.Record, bootstrap.MarkDone}

const (
	// hurries is how often in a row that is believed, and nothing is waited for.
	hurries = 8
	// mostPauses is how many pauses more, one with each look, it comes to then.
	mostPauses = 15
)

// carryOut does the one thing that was decided from a look, which began when.
func (b bootstrapper) carryOut(ctx context.Context, d bootstrap.Decision, o bootstrap.Observation, began time.Time, notify func(string)) error {
	switch d.Action {
	case bootstrap.Record:
		return b.Intents.Record(ctx, bootstrap.Intent{Node: d.Node, Machine: d.Machine, Snapshot: d.Snapshot})
	case bootstrap.MarkDone:
		if o.Intent.Node == "" {
			o.Intent.Node, o.Intent.Machine = d.Node, d.Machine
		}
		o.Intent.Done = true
		return b.record(ctx, o.Intent, o.ControlPlanes)
	case bootstrap.Announce:
		notify("says on the control planes that it is about to bootstrap " + d.Node)
		return b.announce(ctx, d.Note, o.ControlPlanes, began)
	case bootstrap.Call:
		notify("bootstraps " + d.Node)
		return b.callBootstrap(ctx, d, o)
	case bootstrap.Wait:
		notify("waits: " + d.Reason)
	}
	return nil
}

// record writes an intent, and notes it in place of what this run has noted.
func (b bootstrapper) record(ctx context.Context, i bootstrap.Intent, on []bootstrap.ControlPlane) error {
	b.notes.own = bootstrap.Note{}
	if _, err := b.note(ctx, on, noteOf(i), time.Time{}); err != nil {
		return err
	}
	return b.Intents.Record(ctx, i)
}

// snapshotID tells what a lost etcd is made anew from; empty: nothing.
func (b bootstrapper) snapshotID(ctx context.Context) (string, error) {
	if b.Recovery == nil {
		return "", nil
	}
	return b.Recovery.ID(ctx)
}

// etcdEverywhere looks at the intent, and then at every control plane.
func (b bootstrapper) etcdEverywhere(ctx context.Context, began time.Time) (o bootstrap.Observation, err error) {
	if o.Intent, err = b.Intents.Intent(ctx); err != nil {
		return o, err
	}
	states, err := b.states(ctx)
	if err != nil {
		return o, err
	}
	of := clusters(states)
	for _, s := range states {
		o.ControlPlanes = append(o.ControlPlanes, plane(s, of[s.Machine.Name]))
	}
	o.At = b.Clock.Now().Unix()
	b.noted(&o, states, began)
	return o, nil
}

// probeEtcd reads the boot of a control plane before and after its etcd: what it
// says is of one boot.
func (p controlPlanes) probeEtcd(ctx context.Context, m Machine) NodeState {
	return p.probe(ctx, m, func(client *node.Client, s *NodeState) (err error) {
		if s.BootID, err = client.BootID(ctx); err != nil {
			return err
		}
		s.Etcd = readEtcd(ctx, client)
		if s.note, err = client.Note(ctx); err != nil {
			return err
		}
		after, err := client.BootID(ctx)
		if err == nil && after != s.BootID {
			err = errors.New("it rebooted while it was looked at")
		}
		return err
	})
}

// plane is a control plane as the package bootstrap sees it.
func plane(s NodeState, cluster string) bootstrap.ControlPlane {
	p := bootstrap.ControlPlane{
		Name: s.Machine.Name, InTree: s.Machine.InTree, Machine: s.Machine.ID, BootID: s.BootID,
		State: s.Etcd.State, Reason: s.Etcd.Reason, Cluster: cluster,
	}
	switch s.Reach {
	case nodeplan.Foreign:
		p.State, p.Reason = bootstrap.Foreign, s.Reason
	case nodeplan.Maintenance:
		p.State = bootstrap.Maintenance
	case nodeplan.Configured:
	default:
		p.State, p.Reason = bootstrap.Unknown, s.Reason
	}
	return p
}

// callBootstrap calls a node over the one connection on which it has said that
// it is in the boot that was looked at. A node that has an etcd already, or is
// not ready for one, is looked at again.
func (b bootstrapper) callBootstrap(ctx context.Context, d bootstrap.Decision, o bootstrap.Observation) error {
	m, ok := b.machine(d.Node)
	if !ok {
		return diag.On("node "+d.Node, "it is gone").WithCode(diag.Remote)
	}
	credentials, err := b.Credentials()
	if err != nil {
		return err
	}
	client, err := node.Connect(m.target(), &once{through: b.Through}, credentials, b.Clock.Now)
	if err != nil {
		return err
	}
	defer client.Close()
	if id, err := client.BootID(ctx); err != nil || id != d.BootID {
		return nil // the next look sees what it is now
	}
	if err := b.upload(ctx, client, d); node.Transient(err) {
		return nil // the next look sees how far that was
	} else if err != nil {
		return err
	}
	called := o.Intent
	called.CalledBoot, called.CalledAt = d.BootID, b.Clock.Now().Unix()
	if ok, err := b.claim(ctx, noteOf(called), o.ControlPlanes); err != nil || !ok {
		return err // if it is somebody else's turn by now, the next look sees it
	}
	if err := b.Intents.Record(ctx, called); err != nil {
		return err
	}
	err = client.Bootstrap(ctx, d.Snapshot != "")
	if node.Final(err) || slices.Contains([]codes.Code{codes.FailedPrecondition, codes.AlreadyExists}, node.Code(err)) {
		// It has refused before it did anything, so it may be asked again.
		if forgot := b.record(ctx, o.Intent, o.ControlPlanes); forgot != nil {
			return forgot
		}
	}
	if node.Final(err) {
		return err
	}
	return nil
}

// upload brings the snapshot that etcd is made from to the boot of a node, once: it
// may take longer than a turn.
func (b bootstrapper) upload(ctx context.Context, to *node.Client, d bootstrap.Decision) error {
	if d.Snapshot == "" || b.uploaded == d.BootID {
		return nil
	}
	err := b.Recovery.Upload(ctx, to)
	if err == nil {
		b.uploaded = d.BootID
	}
	return err
}

// once connects once: behind a second connection could be another boot.
type once struct {
	through reach.Transport
	used    atomic.Bool
}

// Dial connects, the first time.
func (o *once) Dial(ctx context.Context, address string) (net.Conn, error) {
	if o.used.Swap(true) {
		return nil, diag.On(address, "the connection has ended").WithCode(diag.Remote)
	}
	return o.through.Dial(ctx, address)
}
