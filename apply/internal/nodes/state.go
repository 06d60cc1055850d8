package nodes

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
)

// NodeState is what one look at a node saw.
type NodeState struct {
	Machine Machine
	Reach   nodeplan.Reach
	// Why it is unreachable, foreign, unproven or unfit.
	Reason string
	// Of a machine in maintenance mode: why it is taken for a new one.
	Proof newonce.Proof
	// Of a configured node.
	Stage         string
	BootID        string
	Talos         string // the version; of control planes only
	Config        *nodeconfig.Config
	ConfigVersion string
	// Of a configured control plane.
	Etcd Etcd

	answer newonce.Answer // at the address that it has with its configuration
	cause  error          // why it is not reached there

	lost   bool   // it is reached, and an answer was lost
	behind bool   // the way to it is closed, and it was not asked
	note   string // what it has noted; only read where the intents do not outlast a run
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

const (
	// observing is how many nodes are looked at at once.
	observing = 32
	// observeWithin is how long a look at a node may take in all: one that is slow may
	// be alive, and one that hangs holds nobody up for longer.
	observeWithin = 30 * time.Second
	// observeLong is the same where a decision about etcd waits for it: more than all
	// calls of such a look may take.
	observeLong = 5 * time.Minute
)

// Observe looks at every node, and asks Kubernetes for its nodes meanwhile. An error
// means that nothing can be told; what befalls a single node is in its sight.
func (c *Cluster) Observe(ctx context.Context) ([]NodeState, error) {
	q := c.question(ctx)
	states, err := c.observeAll(ctx, c.Machines, observeWithin, func(ctx context.Context, m Machine) NodeState {
		s := c.observe(ctx, m)
		if s.Etcd.State == bootstrap.Serving {
			q.ask()
		}
		return s
	})
	c.kube = q.answer()
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, execute.Interrupted(ctx)
	}
	admitted, err := c.newcomers().meet(ctx, states)
	c.admitted.set(admitted)
	return states, err
}

// observeAll looks at several nodes at once, at each of them within some time in all.
func (c *Cluster) observeAll(ctx context.Context, machines []Machine, within time.Duration, observe func(context.Context, Machine) NodeState) ([]NodeState, error) {
	if _, err := c.Credentials(); err != nil {
		return nil, err
	}
	closed, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	states := make([]NodeState, len(machines))
	slots := make(chan struct{}, observing)
	var all sync.WaitGroup
	for i, m := range machines {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if closed != "" {
				states[i] = behind(m, closed)
				return
			}
			ctx, cancel := context.WithTimeout(ctx, within)
			defer cancel()
			if states[i] = observe(ctx, m); states[i].lost && ctx.Err() == nil {
				states[i] = observe(ctx, m)
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, execute.Interrupted(ctx)
	}
	return states, nil
}

// open fails if the way to the nodes is closed until somebody changes something:
// then there is nothing to wait for. Else it says why nobody goes it now, which is
// so for all nodes, none of which has to be asked; empty: it is open.
func (c *Cluster) open(ctx context.Context) (closed string, err error) {
	way, ok := c.Through.(interface{ Ready(context.Context) error })
	if !ok {
		return "", nil
	}
	err = way.Ready(ctx)
	switch {
	case reach.Refused(err):
		return "", err
	case err != nil:
		first, _, _ := strings.Cut(err.Error(), "\n")
		return first, nil
	}
	return "", nil
}

// behind is a machine to which the way is closed.
func behind(m Machine, closed string) NodeState {
	s := unseen(m)
	if s.Reach == nodeplan.Unreachable && m.Address != "" {
		s.Reason, s.Etcd.Reason, s.behind = closed, closed, true
	}
	return s
}

// unseen is a machine before it was looked at.
func unseen(m Machine) NodeState {
	s := NodeState{Machine: m, Reach: nodeplan.Unreachable, Etcd: Etcd{State: bootstrap.Unknown}}
	if m.New {
		s.Reach = nodeplan.Maintenance
	} else if m.Address == "" {
		s.Reason = m.Unknown
	}
	return s
}

// observe reads all that a plan needs of a node.
func (c *Cluster) observe(ctx context.Context, m Machine) NodeState {
	return c.probe(ctx, m, func(client *node.Client, s *NodeState) error {
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

// probe finds out whether a node is reached with its configuration, and then reads
// more. Nobody is asked whose certificate the authority of the cluster has not
// signed: the package newonce does that, where it may be done.
func (c *Cluster) probe(ctx context.Context, m Machine, more func(*node.Client, *NodeState) error) NodeState {
	s := unseen(m)
	if m.New || m.Address == "" {
		return s
	}
	client, err := c.Connect(m)
	if err != nil {
		s.Reason = problem(err)
		return s
	}
	status, err := client.Status(ctx)
	if err == nil {
		s.Reach, s.Stage, s.answer = nodeplan.Configured, status.Stage, newonce.Verified
		err = more(client, &s)
	}
	switch {
	case err == nil:
		return s
	case s.Reach == nodeplan.Configured:
		// What was read of it is not the whole.
		return NodeState{
			Machine: m, Reach: nodeplan.Unreachable, Reason: problem(err), lost: node.LostAnswer(err),
			Etcd: Etcd{State: bootstrap.Unknown, Reason: problem(err)},
		}
	case node.OtherAuthority(err):
		s.answer = newonce.Other
	}
	s.Reason, s.cause, s.lost = problem(err), err, node.LostAnswer(err)
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
