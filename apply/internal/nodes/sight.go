package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/node/reach"
	"github.com/talosgen/talosgen/apply/nodeplan"
	"github.com/talosgen/talosgen/apply/nodeplan/bootstrap"
	"github.com/talosgen/talosgen/apply/nodeplan/nodeconfig"
	"github.com/talosgen/talosgen/internal/diag"
)

// Sight is what one look at a node saw.
type Sight struct {
	Machine Machine
	Reach   nodeplan.Reach
	// Why it is unreachable, foreign or unfit.
	Reason string
	// Of a configured node.
	Stage         string
	BootID        string
	Talos         string // the version; of control planes only
	Config        *nodeconfig.Config
	ConfigVersion string
	// Of a configured control plane.
	Etcd Etcd

	lost bool   // it is reached, and an answer was lost
	note string // what it has noted; only read where the intents do not outlast a run
}

// Etcd is what a control plane says of its etcd.
type Etcd struct {
	State  bootstrap.State
	Reason string // of what is unknown, or has data and does not serve
	// Of one that serves.
	Self    node.MemberID
	Leader  node.MemberID
	Members []node.Member
}

// looking is how many nodes are looked at at once.
const looking = 32

// Look looks at every node. An error means that nothing can be told; what
// befalls a single node is in its sight.
func (c *Cluster) Look(ctx context.Context) ([]Sight, error) {
	return c.lookAt(ctx, c.Machines, c.look)
}

// lookAt looks at several nodes at once.
func (c *Cluster) lookAt(ctx context.Context, machines []Machine, look func(context.Context, Machine) Sight) ([]Sight, error) {
	if _, err := c.Credentials(); err != nil {
		return nil, err
	}
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	sights := make([]Sight, len(machines))
	slots := make(chan struct{}, looking)
	var all sync.WaitGroup
	for i, m := range machines {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if sights[i] = look(ctx, m); sights[i].lost {
				sights[i] = look(ctx, m)
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, interrupted(ctx)
	}
	return sights, nil
}

// open fails if the way to the nodes is closed until somebody changes something:
// then there is nothing to wait for. What else is wrong with it, the nodes' sights
// say.
func (c *Cluster) open(ctx context.Context) error {
	way, ok := c.Through.(interface{ Ready(context.Context) error })
	if !ok {
		return nil
	}
	if err := way.Ready(ctx); reach.Refused(err) {
		return err
	}
	return nil
}

func interrupted(ctx context.Context) error {
	return diag.On("apply", "interrupted").WithCode(diag.Interrupted).WithCause(ctx.Err()).
		WithHint("run the same command again: it goes on where this run stopped")
}

// look reads all that a plan needs of a node.
func (c *Cluster) look(ctx context.Context, m Machine) Sight {
	return c.see(ctx, m, func(client *node.Client, s *Sight) error {
		text, version, err := client.Active(ctx)
		if err != nil {
			return err
		}
		s.ConfigVersion = version
		if s.Config, err = nodeconfig.Parse("node "+m.Name, []byte(text.Reveal())); err != nil {
			return err
		}
		if s.BootID, err = client.BootID(ctx); err != nil || !m.controlPlane() {
			return err
		}
		if s.Talos, err = client.Version(ctx); err != nil {
			return err
		}
		s.Etcd = readEtcd(ctx, client)
		return nil
	})
}

// see finds out how a node is reached, and if it is configured reads more.
func (c *Cluster) see(ctx context.Context, m Machine, more func(*node.Client, *Sight) error) Sight {
	s := Sight{Machine: m, Reach: nodeplan.Unreachable, Etcd: Etcd{State: bootstrap.Unknown}}
	if m.New {
		s.Reach = nodeplan.Maintenance
		return s
	}
	if m.Address == "" {
		s.Reason = m.Unknown
		return s
	}
	client, err := c.Connect(m)
	if err != nil {
		s.Reason = problem(err)
		return s
	}
	status, err := client.Status(ctx)
	if err == nil {
		s.Reach, s.Stage = nodeplan.Configured, status.Stage
		err = more(client, &s)
	}
	switch {
	case err == nil:
		return s
	case s.Reach == nodeplan.Configured:
		// What was read of it is not the whole.
		return Sight{
			Machine: m, Reach: nodeplan.Unreachable, Reason: problem(err), lost: node.LostAnswer(err),
			Etcd: Etcd{State: bootstrap.Unknown, Reason: problem(err)},
		}
	case node.OtherAuthority(err), m.BootAddress != "" && m.BootAddress != m.Address:
		return c.seeBare(ctx, s, err)
	}
	s.Reason, s.lost = problem(err), node.LostAnswer(err)
	return s
}

// seeBare looks whether a node is in maintenance mode that has not shown itself
// as one of the cluster.
func (c *Cluster) seeBare(ctx context.Context, s Sight, why error) Sight {
	s.Reason = problem(why)
	client, err := node.Maintenance(s.Machine.boot(), c.Through, "")
	if err != nil {
		s.Reason = problem(err)
		return s
	}
	defer client.Close()
	status, err := client.Status(ctx)
	switch {
	case err == nil && status.Stage == node.StageMaintenance:
		s.Reach, s.Reason = identified(identify(ctx, client, s.Machine))
	case node.WantsCertificate(err) && node.OtherAuthority(why):
		s.Reach = nodeplan.Foreign
	case err == nil:
		s.Reason = "it answers without a certificate, and is " + status.Stage
	case s.Machine.boot() == s.Machine.target():
		s.Reason = problem(err)
	}
	return s
}

// identified says how a machine in maintenance mode is reached, by the error of
// [identify].
func identified(err error) (reach nodeplan.Reach, reason string) {
	var disk *diskError
	switch {
	case err == nil:
		return nodeplan.Maintenance, ""
	case errors.As(err, &disk):
		return nodeplan.Unfit, problem(err)
	case node.Transient(err):
		return nodeplan.Unreachable, problem(err) // nobody knows which machine it is
	}
	return nodeplan.Foreign, problem(err)
}

// problem is what an error says, without the object and the hint.
func problem(err error) string {
	var list diag.List
	list.AddErr(err)
	if len(list) == 0 {
		return ""
	}
	return list[0].Message
}

// moving reports whether a node is on its way to another stage by itself. Before
// there is an etcd, nodes boot until somebody makes one.
func (s Sight) moving(etcd bool) bool {
	if s.Reach != nodeplan.Configured || s.Stage == node.StageRunning {
		return false
	}
	return etcd || s.Stage != node.StageBooting || s.Machine.controlPlane() && s.Etcd.State != bootstrap.Empty
}

// waitForNodes is what is told of by [Cluster.Settled].
const waitForNodes = "wait for nodes"

// Settled looks until no node is in motion any more, or patience ends: a run
// that was interrupted leaves nodes that reboot. Awaited are nodes that are
// about to come; those that were there a moment ago are awaited too.
func (c *Cluster) Settled(ctx context.Context, awaited []string) ([]Sight, error) {
	end := c.Clock.Now().Add(c.Patience.Settle)
	told := false
	for {
		sights, err := c.Look(ctx)
		if err != nil {
			return nil, err
		}
		etcd := len(serving(sights)) > 0
		var still []string
		for _, s := range sights {
			name := s.Machine.Name
			switch {
			case s.moving(etcd):
				still = append(still, name+" is "+s.Stage)
			case s.Reach == nodeplan.Unreachable && (c.met[name] || slices.Contains(awaited, name)):
				still = append(still, name+" does not answer yet")
			}
		}
		c.meet(sights)
		if len(still) == 0 || !c.Clock.Now().Before(end) {
			if told {
				c.tell(waitForNodes, "")
			}
			return sights, nil
		}
		c.tell(waitForNodes, few(still))
		told = true
		if err := c.pause(ctx); err != nil {
			return nil, err
		}
	}
}

// few is a list for people, who cannot do with hundreds.
func few(texts []string) string {
	const most = 5
	if n := len(texts) - most; n > 1 {
		return fmt.Sprintf("%s, and %d more", strings.Join(texts[:most], ", "), n)
	}
	return strings.Join(texts, ", ")
}

// meet remembers who was reached.
func (c *Cluster) meet(sights []Sight) {
	if c.met == nil {
		c.met = map[string]bool{}
	}
	for _, s := range sights {
		if s.Reach == nodeplan.Configured || s.Reach.Bare() {
			c.met[s.Machine.Name] = true
		}
	}
}

// pause waits a little, and makes sure of the lock.
func (c *Cluster) pause(ctx context.Context) error {
	if err := c.Clock.Sleep(ctx, c.Patience.Every); err != nil {
		return interrupted(ctx)
	}
	return c.keep(ctx)
}

func (c *Cluster) keep(ctx context.Context) error {
	if c.Keep == nil {
		return nil
	}
	return c.Keep(ctx)
}
