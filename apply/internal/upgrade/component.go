package upgrade

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/diag"
)

// configure gives a program of Kubernetes another image: the configuration that the node
// has stays as it is but for that, and a node that has the image gets nothing. Programs of
// the control plane are waited for by observing, and the kubelet here: until it runs, its
// node is not done.
func (u stepper) configure(ctx context.Context, c *node.Client, s upgradeplan.Step) error {
	if s.Evict {
		if err := u.drain(ctx, s); err != nil {
			return err
		}
	}
	config, _, err := active(ctx, c)
	if err != nil {
		return err
	}
	send, changed, err := config.WithImage(s.Component, s.Image)
	if err != nil {
		return err
	}
	if changed {
		if _, err := c.Apply(ctx, send, node.NoReboot); err != nil {
			return err
		}
	}
	if s.Component != upgradeplan.Kubelet {
		return nil
	}
	return u.wait(ctx, s.Node, "in Kubernetes with its kubelet "+s.Version, func(ctx context.Context) error {
		return u.kubeletRuns(ctx, s)
	})
}

// kubeletRuns is nil when the kubelet of a node has said that it runs a version, and that
// the node is ready.
func (u stepper) kubeletRuns(ctx context.Context, s upgradeplan.Step) error {
	registered, err := u.Kubernetes.Registered(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(registered, func(n kube.Node) bool { return n.Name == s.Node })
	switch {
	case i < 0:
		return diag.On("node "+s.Node, "Kubernetes does not know it").WithCode(diag.Remote)
	case !upgradeplan.Same(registered[i].Kubelet, s.Version):
		return node.NotYet("its kubelet is %s", registered[i].Kubelet)
	case !registered[i].Ready:
		return node.NotYet("it is not ready: %s", registered[i].Message)
	}
	return nil
}
