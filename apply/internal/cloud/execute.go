package cloud

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/internal/turn"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

// Executor makes the changes of one plan, each when it is told to. It knows the
// ids of what it made, for the changes that come after. It is safe for
// concurrent use.
//
// A change makes only the calls that its fields stand for, waits for every
// action that they begin, and takes what is gone already as deleted. An error
// that [Stale] knows means that the plan is not true any more: observe, plan,
// go on.
type Executor struct {
	client *Client
	api    *hcloud.Client
	waiter *waiter
	clock  Clock
	plan   *cloudplan.Plan
	inputs Inputs
	net    turn.Turn // Hetzner refuses two changes of a network at once

	mu    sync.Mutex
	ids   map[plan.Key]int64
	found cloudplan.Observed // grows by what was made
}

// Inputs are what an executor needs beside the plan.
type Inputs struct {
	// The private SSH host key of a server, as PEM, for the marker in its user
	// data; asked only for servers that have it.
	HostKey func(server string) (secret.String, error)
	// Makes an image, and returns its id.
	Image func(context.Context, schemas.InfraSnapshot) (int64, error)
	// Labels of talosgen's own that what keeps notes is made with; see [Notes].
	Notes map[string]string
}

// Executor returns an executor of a plan.
func (c *Client) Executor(p *cloudplan.Plan, in Inputs) *Executor {
	e := &Executor{
		client: c, api: c.api, waiter: c.waiter, clock: c.clock, plan: p,
		inputs: in, ids: map[plan.Key]int64{}, found: p.Observed,
	}
	o := &e.found
	know(e, cloudplan.KindNetwork, o.Networks)
	know(e, cloudplan.KindFirewall, o.Firewalls)
	know(e, cloudplan.KindPlacementGroup, o.PlacementGroups)
	know(e, cloudplan.KindSSHKey, o.SSHKeys)
	know(e, cloudplan.KindServer, o.Servers)
	// What others append to must not be what the plan holds.
	o.Servers, o.LoadBalancers, o.FloatingIPs = slices.Clone(o.Servers), slices.Clone(o.LoadBalancers), slices.Clone(o.FloatingIPs)
	return e
}

func know[T labelled](e *Executor, kind cloudplan.Kind, objects []T) {
	for _, o := range objects {
		m := o.Object()
		e.ids[cloudplan.KeyOf(kind, m.Name)] = m.ID
	}
}

// Do makes a change. Its error is for people, and has its cause inside.
func (e *Executor) Do(ctx context.Context, ch cloudplan.Change) error {
	s := &step{Executor: e, Change: ch, object: fmt.Sprintf("%s %s", ch.Kind, ch.Name)}
	return explain(s.object, string(ch.Action), s.do(ctx))
}

// step is a change while it is made.
type step struct {
	*Executor
	cloudplan.Change
	object string
}

func (s *step) do(ctx context.Context) error {
	of, known := kinds[s.Kind]
	if !known {
		return diag.On(s.object, "apply cannot change this kind of object").WithCode(diag.Remote)
	}
	o := of(s)
	switch s.Action {
	case cloudplan.Create:
		return o.create(ctx)
	case cloudplan.Update:
		return o.update(ctx)
	case cloudplan.Delete:
		return o.remove(ctx)
	case cloudplan.Replace:
		if err := o.remove(ctx); err != nil {
			return err
		}
		return o.create(ctx)
	}
	return diag.On(s.object, "unknown action %q", s.Action).WithCode(diag.Remote)
}

// object is one that a change is about, of the kind of the change.
type object interface {
	create(ctx context.Context) error
	update(ctx context.Context) error
	remove(ctx context.Context) error
}

// kinds says how objects of each kind are changed.
var kinds = map[cloudplan.Kind]func(*step) object{
	cloudplan.KindNetwork:        func(s *step) object { return networkStep{s} },
	cloudplan.KindSubnet:         func(s *step) object { return subnetStep{fixed{s}} },
	cloudplan.KindRoute:          func(s *step) object { return routeStep{s} },
	cloudplan.KindFirewall:       func(s *step) object { return firewallStep{s} },
	cloudplan.KindPlacementGroup: func(s *step) object { return groupStep{s} },
	cloudplan.KindFloatingIP:     func(s *step) object { return floatingIPStep{s} },
	cloudplan.KindPrimaryIP:      func(s *step) object { return primaryIPStep{fixed{s}} },
	cloudplan.KindSSHKey:         func(s *step) object { return sshKeyStep{fixed{s}} },
	cloudplan.KindServer:         func(s *step) object { return serverStep{s} },
	cloudplan.KindVolume:         func(s *step) object { return volumeStep{s} },
	cloudplan.KindLoadBalancer:   func(s *step) object { return balancerStep{s} },
	cloudplan.KindImage:          func(s *step) object { return imageStep{fixed{s}} },
	cloudplan.KindRRSet:          func(s *step) object { return recordStep{s} },
}

// fixed is an object that apply may only delete, unless its kind says otherwise.
type fixed struct{ *step }

func (s fixed) create(context.Context) error { return s.impossible() }
func (s fixed) update(context.Context) error { return s.impossible() }

func (s *step) impossible() error {
	return diag.On(s.object, "%s: apply cannot do that", s.Action).WithCode(diag.Remote)
}

// await makes a call, and waits for the action that it begins.
func (s *step) await(ctx context.Context, doing string, call func() (*hcloud.Action, *hcloud.Response, error)) error {
	action, _, err := call()
	if err == nil {
		err = s.waiter.wait(ctx, action)
	}
	return explain(s.object, doing, err)
}

// awaitAll does the same for a call that begins several.
func (s *step) awaitAll(ctx context.Context, doing string, call func() ([]*hcloud.Action, *hcloud.Response, error)) error {
	actions, _, err := call()
	if err == nil {
		err = s.waiter.wait(ctx, actions...)
	}
	return explain(s.object, doing, err)
}

// has returns the fields of a name, and whether there is one.
func (s *step) has(name string) (fields []cloudplan.Field, found bool) {
	for _, f := range s.Fields {
		if f.Name == name {
			fields = append(fields, f)
		}
	}
	return fields, len(fields) > 0
}

// one is a field for which there is a call.
type one struct {
	name string
	set  func(context.Context, []cloudplan.Field) error
}

// always is the name of no field, but of a call that is made in any case.
const always = ""

// set makes the calls of the fields that there are, in the order given.
func (s *step) set(ctx context.Context, known ...one) error {
	for _, k := range known {
		fields, found := s.has(k.name)
		if !found && k.name != always {
			continue
		}
		if err := k.set(ctx, fields); err != nil {
			return err
		}
	}
	for _, f := range s.Fields {
		if !slices.ContainsFunc(known, func(k one) bool { return k.name == f.Name }) {
			return diag.On(s.object, "apply cannot change its %s", f.Name).WithCode(diag.Remote)
		}
	}
	return nil
}

// made remembers the id of what was created.
func (s *step) made(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids[s.Key] = id
}

// id returns the id of another object of the plan.
func (s *step) id(kind cloudplan.Kind, name string) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.ids[cloudplan.KeyOf(kind, name)]
	if id == 0 {
		return 0, diag.On(s.object, "the %s %s is not there", kind, name).WithCode(diag.Remote).WithHint(hintAgain)
	}
	return id, nil
}

// network returns the cluster's network.
func (s *step) network() (*hcloud.Network, error) {
	n := s.plan.Desired.Network
	switch {
	case n == nil:
		return nil, diag.On(s.object, "the cluster has no network").WithCode(diag.Remote)
	case n.ExistingID != 0:
		return &hcloud.Network{ID: n.ExistingID}, nil
	}
	id, err := s.id(cloudplan.KindNetwork, n.Name)
	return &hcloud.Network{ID: id}, err
}

// desired finds the desired object of a name.
func desired[T any](s *step, list []T, name func(T) string) (*T, error) {
	for i := range list {
		if name(list[i]) == s.Name {
			return &list[i], nil
		}
	}
	return nil, diag.On(s.object, "it is not in infrastructure.yaml").WithCode(diag.Remote)
}

// observed finds the object that is to be changed.
func observed[T labelled](s *step, list []T) (*T, error) {
	for i := range list {
		if list[i].Object().ID == s.ID {
			return &list[i], nil
		}
	}
	return nil, diag.On(s.object, "it was not observed").WithCode(diag.Remote)
}

// done takes what is gone as deleted.
func done(err error) error {
	if gone(err) {
		return nil
	}
	return err
}
