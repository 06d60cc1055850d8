package apply

import (
	"context"
	"errors"
	"time"

	"github.com/talosgen/talosgen/apply/internal/health"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/progress"
)

// Health looks at the nodes, etcd and Kubernetes, and says whether the cluster is
// well. If it is not it looks again, as long as it may; then there is an error
// with the exit code [diag.NotReady] besides the last report.
func (s *Session) Health(ctx context.Context, within time.Duration) (report *health.Report, err error) {
	c, err := s.connect.nodes(ctx)
	if err != nil {
		return nil, err
	}
	err = s.log.stage("health", 0, func(stage progress.Stage) error {
		if within == 0 {
			r := checked(ctx, c)
			report = &r
			return ctx.Err()
		}
		return node.WaitFor(ctx, s.log.clock, node.Patience{Every: pollEvery, Most: slowPoll, Within: within}, "cluster", "well", func(ctx context.Context) error {
			r := checked(ctx, c)
			report = &r
			if failures := r.Failures(); len(failures) > 0 {
				stage.Step("wait", progress.Note, failures[0].String())
				return node.NotYet("%s", failures[0])
			}
			return nil
		})
	})
	return report, err
}

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
	if api, ok := c.Kubernetes.(controlPlaneAPI); ok {
		list = api.once
	}
	all, err := list(ctx)
	for _, n := range all {
		found = append(found, health.KubeNode{Name: n.Name, Ready: n.Ready, Message: n.Message, NoNetwork: n.NoNetwork, Cordoned: n.Cordoned})
	}
	return found, err
}
