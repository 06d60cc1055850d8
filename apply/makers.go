package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/schemas"
)

// makers are what makes nodes by itself: the autoscaler, its pods and its servers.
// Rotations count what may come of them.
type makers struct {
	connect *connector
	known   bool // the cluster has some
}

// meet notes whether a cluster has an autoscaler, or servers of one.
func (m *makers) meet(o cloudplan.Observed) {
	m.known = m.connect.project != nil && (len(m.connect.inventory.infra.AutoscalerPools) > 0 || slices.ContainsFunc(o.Servers, func(s cloudplan.Server) bool {
		return s.Labels[schemas.LabelNodeGroup] != "" && s.Labels[schemas.LabelCluster] == m.connect.inventory.infra.Cluster
	}))
}

// seen looks at them where a rotation depends on it.
func (m *makers) seen(ctx context.Context, c *nodes.Cluster, d nodeplan.Desired, o nodeplan.Observed) (a nodeplan.Autoscaler, err error) {
	lives := slices.ContainsFunc(o.Nodes, func(n nodeplan.Node) bool { return n.Role == nodeplan.ControlPlane && n.Reach == nodeplan.Configured })
	if !m.known || !lives || !nodeplan.Rotates(d, o) {
		return a, nil
	}
	api, served := m.connect.api(c)
	if o.Silent != "" || !served {
		return nodeplan.Autoscaler{Silent: "the Kubernetes API does not answer"}, nil
	}
	err = api.do(ctx, func(client *kube.Client) error {
		a, err = m.observe(ctx, client, o)
		return err
	})
	if err != nil && ctx.Err() == nil {
		return nodeplan.Autoscaler{Silent: oneLine(err)}, nil
	}
	return a, err
}

// observe looks at them: first at what makes servers, and then at these.
func (m *makers) observe(ctx context.Context, client *kube.Client, o nodeplan.Observed) (a nodeplan.Autoscaler, err error) {
	has, err := kube.ObserveAutoscaler(ctx, client)
	if err != nil {
		return a, err
	}
	servers, err := m.connect.project.ListAutoscaled(ctx)
	if err != nil {
		return a, err
	}
	a.Pods = has.Pods
	if has.Config != nil {
		a.Groups = nodeplan.Groups(has.Config)
	}
	names := has.Nodes
	for _, s := range servers {
		_, makes := a.Groups[s.Group]
		if makes || s.Cluster == m.connect.inventory.infra.Cluster || m.connect.inventory.scaled(s.Group) != nil {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !slices.ContainsFunc(o.Nodes, func(n nodeplan.Node) bool { return n.Name == name && n.Config != nil }) {
			a.Servers = append(a.Servers, name)
		}
	}
	return a, nil
}

// refuse refuses to give the autoscaler what new servers must not have yet.
func (m *makers) refuse(ctx context.Context, client *kube.Client, p *Plan, d nodeplan.Desired, o nodeplan.Observed) (err error) {
	if m.connect.project == nil || p.Kubernetes == nil {
		return nil
	}
	for _, s := range p.Kubernetes.Steps {
		if !kube.IsAutoscalerSecret(s.ID()) || !s.Effective() || s.Live() == nil || s.Item() == nil {
			continue
		}
		before, after := nodeplan.Groups(kube.AutoscalerConfig(s.Live())), nodeplan.Groups(kube.AutoscalerConfig(s.Item().Object))
		may := func() (why, hint string) { return nodeplan.MayMake(before, after, d, o, p.Nodes == nil) }
		why, hint := may()
		if why == "" && p.Nodes != nil && nodeplan.Turns(before, after) && o.Autoscaler.Groups == nil {
			if o.Autoscaler, err = m.observe(ctx, client, o); err != nil {
				return err
			}
			why, hint = may()
		}
		if why != "" {
			p.Kubernetes.Refusals = append(p.Kubernetes.Refusals, plan.Note{Key: s.Key, Text: why, Hint: hint})
		}
	}
	return nil
}
