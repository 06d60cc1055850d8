package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
)

// moving reports whether a node is on its way to another stage by itself. Before
// there is an etcd, nodes boot until somebody makes one.
func (s NodeState) moving(etcd bool) bool {
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
func (c *Cluster) Settled(ctx context.Context, awaited []string) ([]NodeState, error) {
	end := c.Clock.Now().Add(c.Patience.Settle)
	notified := false
	for polls := 0; ; polls++ {
		states, err := c.Observe(ctx)
		if err != nil {
			return nil, err
		}
		etcd := len(serving(states)) > 0
		var still []string
		for _, s := range states {
			name := s.Machine.Name
			switch {
			case s.Machine.Group != "": // nobody says how long it stays
			case s.moving(etcd):
				still = append(still, name+" is "+s.Stage)
			case s.Reach == nodeplan.Unreachable && (c.met[name] || slices.Contains(awaited, name) || c.sentTo(s.Machine)):
				still = append(still, name+" does not answer yet")
			}
		}
		c.meet(states)
		if len(still) == 0 || !c.Clock.Now().Before(end) {
			if notified {
				c.notify(waitForNodes, "")
			}
			return states, nil
		}
		c.notify(waitForNodes, few(still))
		notified = true
		if err := c.pause(ctx, polls); err != nil {
			return nil, err
		}
	}
}

// sentTo reports whether a run that was interrupted may have sent a machine its
// configuration, so that it reboots. One that is off, or has no server any more, does not.
func (c *Cluster) sentTo(m Machine) bool {
	return recorded(c.Records, m).State == newonce.Sending && m.Address != "" && m.Server != serverOff
}

// serverOff is what Hetzner says of a server that is switched off.
const serverOff = "off"

// few is a list for people, who cannot do with hundreds.
func few(texts []string) string {
	const most = 5
	if n := len(texts) - most; n > 1 {
		return fmt.Sprintf("%s, and %d more", strings.Join(texts[:most], ", "), n)
	}
	return strings.Join(texts, ", ")
}

// meet remembers who was reached.
func (c *Cluster) meet(states []NodeState) {
	if c.met == nil {
		c.met, c.proven = map[string]bool{}, map[string]bool{}
	}
	c.bare = map[string]bool{}
	for _, s := range states {
		c.bare[s.Machine.Name] = s.Reach.Bare()
		if s.Reach == nodeplan.Configured {
			c.proven[s.Machine.Name] = true
		}
		if s.Reach == nodeplan.Configured || s.Reach.Bare() {
			c.met[s.Machine.Name] = true
		}
	}
}

// pause waits a little, longer after many looks, and makes sure of the lock.
func (c *Cluster) pause(ctx context.Context, polls int) error {
	if err := c.Clock.Sleep(ctx, c.Patience.of(0).Pause(polls)); err != nil {
		return execute.Interrupted(ctx)
	}
	return c.keep(ctx)
}

func (c *Cluster) keep(ctx context.Context) error {
	if c.Keep == nil {
		return nil
	}
	return c.Keep(ctx)
}
