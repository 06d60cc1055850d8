package apply

import (
	"context"
	"errors"

	"github.com/talosgen/talosgen/apply/internal/health"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// asking says how Kubernetes is asked for its nodes.
func asking(c *nodes.Cluster) func(context.Context) ([]health.KubeNode, error) {
	return func(ctx context.Context) ([]health.KubeNode, error) { return registered(ctx, c) }
}

// checked reads all machines, and checks what they say.
func checked(ctx context.Context, c *nodes.Cluster) health.Report {
	return health.Check(facts(ctx, c, c.Machines, asking(c)))
}

// facts reads machines, and Kubernetes as it is to be asked. One that cannot even be asked is a fact too.
func facts(ctx context.Context, c *nodes.Cluster, machines []nodes.Machine, kubernetes func(context.Context) ([]health.KubeNode, error)) health.Facts {
	collector := health.Collector{Kubernetes: kubernetes}
	for _, m := range machines {
		t := health.Target{Name: m.Name, ControlPlane: m.Role == nodeplan.ControlPlane}
		if m.Address == "" {
			t.Err = errors.New(m.Unknown)
		} else if client, err := c.Connect(m); err != nil {
			t.Err = err
		} else {
			t.Source = client
		}
		collector.Targets = append(collector.Targets, t)
	}
	return collector.Collect(ctx)
}

// registered lists the nodes of Kubernetes as checks see them. Whoever checks
// looks again by themselves.
func registered(ctx context.Context, c *nodes.Cluster) (found []health.KubeNode, err error) {
	if c.Kubernetes == nil {
		return nil, errors.New("there is no control plane that could serve it")
	}
	list := c.Kubernetes.Registered
	if c.RegisteredNow != nil {
		list = c.RegisteredNow
	}
	all, err := list(ctx)
	for _, n := range all {
		found = append(found, health.KubeNode{Name: n.Name, Ready: n.Ready, Message: n.Message, NoNetwork: n.NoNetwork, Cordoned: n.Cordoned})
	}
	return found, err
}
