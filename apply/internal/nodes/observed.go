package nodes

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
)

// Observed is what a plan is made from: what was seen, and what Kubernetes
// knows.
func (c *Cluster) Observed(ctx context.Context, states []NodeState) (nodeplan.Observed, error) {
	o := observed(states)
	// Without a control plane there is no Kubernetes to ask.
	if c.Kubernetes == nil || len(serving(states)) == 0 {
		return o, nil
	}
	if !c.Forgetful {
		intent, err := c.Intents.Intent(ctx)
		if err != nil {
			return o, err
		}
		o.Unrecorded = !intent.Done
	}
	registered, err := c.registered(ctx)
	switch {
	case ctx.Err() != nil:
		return o, execute.Interrupted(ctx)
	case err != nil:
		o.Silent = problem(err)
	}
	for _, r := range registered {
		i := slices.IndexFunc(o.Nodes, func(n nodeplan.Node) bool { return n.Name == r.Name })
		if i < 0 {
			continue
		}
		n := &o.Nodes[i]
		n.Registered, n.Ready, n.Drained, n.Upgrading = true, r.Ready, r.Drained, r.Upgrade != ""
		n.Talos = cmp.Or(n.Talos, r.Talos)
		n.KubeReport = reported(n.KubeReport, r, c.Clock.Now())
	}
	return o, nil
}

// lostAfter is how long a node may be away that starts, or whose network is down for
// a while. A machine that tests its memory takes minutes.
const lostAfter = 15 * time.Minute

// reported adds what Kubernetes says of a node.
func reported(h nodeplan.KubeReport, of kube.Node, now time.Time) nodeplan.KubeReport {
	if of.Since.IsZero() {
		return h
	}
	h.Ready, h.Since = of.Ready, of.Since.UTC().Format("2006-01-02 15:04")+" UTC"
	h.Long = !of.Ready && now.Sub(of.Since) >= lostAfter
	return h
}

// observed is what sights say by themselves.
func observed(states []NodeState) (o nodeplan.Observed) {
	for _, s := range states {
		n := nodeplan.Node{
			Name: s.Machine.Name, Role: s.Machine.Role, Reach: s.Reach, Reason: s.Reason, Proof: s.Proof, Stage: s.Stage,
			BootID: s.BootID, ConfigVersion: s.ConfigVersion, Config: s.Config, Talos: s.Talos,
			KubeReport: nodeplan.KubeReport{Server: s.Machine.Server},
		}
		if s.Config != nil {
			n.Role = role(s.Config)
		}
		o.Nodes = append(o.Nodes, n)
	}
	o.Members, o.Known = members(states)
	o.Running = running(states)
	return o
}

// roles of Talos, in the words of the package plan/nodes.
var roles = map[string]string{"controlplane": nodeplan.ControlPlane, "init": nodeplan.ControlPlane, "worker": nodeplan.Worker}

func role(c *nodeconfig.Config) string { return cmp.Or(roles[c.MachineType()], c.MachineType()) }

// running are the oldest versions that control planes run, while they may be
// about to be upgraded: everything works with the older one.
func running(states []NodeState) (r nodeconfig.Running) {
	for _, s := range states {
		if !s.Machine.controlPlane() || s.Config == nil {
			continue
		}
		r.Talos = upgradepath.Older(r.Talos, s.Talos)
		// Before etcd, nothing of Kubernetes runs yet.
		if s.Stage == node.StageRunning {
			r.Kubernetes = upgradepath.Older(r.Kubernetes, s.Config.Kubernetes())
		}
	}
	return r
}
