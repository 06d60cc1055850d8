package cloud

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/internal/turn"
	"github.com/talosgen/talosgen/apply/plan"
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
	plan   *plan.Plan
	inputs Inputs
	net    turn.Turn // Hetzner refuses two changes of a network at once

	mu    sync.Mutex
	ids   map[plan.Key]int64
	found plan.Observed // grows by what was made
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
func (c *Client) Executor(p *plan.Plan, in Inputs) *Executor {
	e := &Executor{
		client: c, api: c.api, waiter: c.waiter, clock: c.clock, plan: p,
		inputs: in, ids: map[plan.Key]int64{}, found: p.Observed,
	}
	o := &e.found
	know(e, plan.KindNetwork, o.Networks, func(n plan.Network) plan.Meta { return n.Meta })
	know(e, plan.KindFirewall, o.Firewalls, func(f plan.Firewall) plan.Meta { return f.Meta })
	know(e, plan.KindPlacementGroup, o.PlacementGroups, func(g plan.PlacementGroup) plan.Meta { return g.Meta })
	know(e, plan.KindSSHKey, o.SSHKeys, func(k plan.SSHKey) plan.Meta { return k.Meta })
	know(e, plan.KindServer, o.Servers, func(s plan.Server) plan.Meta { return s.Meta })
	// What others append to must not be what the plan holds.
	o.Servers, o.LoadBalancers, o.FloatingIPs = slices.Clone(o.Servers), slices.Clone(o.LoadBalancers), slices.Clone(o.FloatingIPs)
	return e
}

func know[T any](e *Executor, kind plan.Kind, objects []T, meta func(T) plan.Meta) {
	for _, o := range objects {
		m := meta(o)
		e.ids[plan.KeyOf(kind, m.Name)] = m.ID
	}
}

// Do makes a change. Its error is for people, and has its cause inside.
func (e *Executor) Do(ctx context.Context, ch plan.Change) error {
	s := &step{Executor: e, Change: ch, object: fmt.Sprintf("%s %s", ch.Kind, ch.Name)}
	return explain(s.object, string(ch.Action), s.do(ctx))
}

// step is a change while it is made.
type step struct {
	*Executor
	plan.Change
	object string
}

func (s *step) do(ctx context.Context) error {
	k, known := kinds[s.Kind]
	if !known {
		return diag.On(s.object, "apply cannot change this kind of object").WithCode(diag.Remote)
	}
	switch s.Action {
	case plan.Create:
		return k.create(s, ctx)
	case plan.Update:
		return k.update(s, ctx)
	case plan.Delete:
		return k.remove(s, ctx)
	case plan.Replace:
		if err := k.remove(s, ctx); err != nil {
			return err
		}
		return k.create(s, ctx)
	}
	return diag.On(s.object, "unknown action %q", s.Action).WithCode(diag.Remote)
}

// maker is a method that makes a change.
type maker func(*step, context.Context) error

// kinds says how objects of each kind are changed.
var kinds = map[plan.Kind]struct{ create, update, remove maker }{
	plan.KindNetwork:        {(*step).createNetwork, (*step).updateNetwork, (*step).deleteNetwork},
	plan.KindSubnet:         {(*step).createSubnet, (*step).impossible, (*step).deleteSubnet},
	plan.KindRoute:          {(*step).createRoute, (*step).updateRoute, (*step).deleteRoute},
	plan.KindFirewall:       {(*step).createFirewall, (*step).updateFirewall, (*step).deleteFirewall},
	plan.KindPlacementGroup: {(*step).createGroup, (*step).updateGroup, (*step).deleteGroup},
	plan.KindFloatingIP:     {(*step).createFloatingIP, (*step).updateFloatingIP, (*step).deleteFloatingIP},
	plan.KindPrimaryIP:      {(*step).impossible, (*step).impossible, (*step).deletePrimaryIP},
	plan.KindSSHKey:         {(*step).impossible, (*step).impossible, (*step).deleteSSHKey},
	plan.KindServer:         {(*step).createServer, (*step).updateServer, (*step).deleteServer},
	plan.KindVolume:         {(*step).impossible, (*step).impossible, (*step).deleteVolume},
	plan.KindLoadBalancer:   {(*step).createBalancer, (*step).updateBalancer, (*step).deleteBalancer},
	plan.KindImage:          {(*step).createImage, (*step).impossible, (*step).deleteImage},
	plan.KindRRSet:          {(*step).createRecords, (*step).updateRecords, (*step).deleteRecords},
}

func (s *step) impossible(context.Context) error {
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
func (s *step) has(name string) (fields []plan.Field, found bool) {
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
	set  func(context.Context, []plan.Field) error
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
func (s *step) id(kind plan.Kind, name string) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.ids[plan.KeyOf(kind, name)]
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
	id, err := s.id(plan.KindNetwork, n.Name)
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
func observed[T any](s *step, list []T, meta func(T) plan.Meta) (*T, error) {
	for i := range list {
		if meta(list[i]).ID == s.ID {
			return &list[i], nil
		}
	}
	return nil, diag.On(s.object, "it was not observed").WithCode(diag.Remote)
}

// on reads a field that is on or off.
func on(fields []plan.Field) bool { return fields[0].To == "on" }

// done takes what is gone as deleted.
func done(err error) error {
	if gone(err) {
		return nil
	}
	return err
}
