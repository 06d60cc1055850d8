package upgrade

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// configure gives a program of Kubernetes another image, and with it what Git starts it
// with: the configuration that the node has stays as it is but for that, and a node that
// has both gets nothing. Programs of the control plane are waited for by observing, and the
// kubelet here: until it runs, its node is not done.
func (u stepper) configure(ctx context.Context, c *node.Client, s upgradeplan.Step) error {
	if s.Evict {
		if err := u.drain(ctx, s); err != nil {
			return err
		}
	}
	config, err := active(ctx, c)
	if err != nil {
		return err
	}
	send, changed, err := u.next(config, s)
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

// next is the configuration with the image of a step, and with what Git starts the program
// with, if that moves too.
func (u stepper) next(active *nodeconfig.Config, s upgradeplan.Step) (send secret.String, changed bool, err error) {
	if !s.Section {
		return active.WithImage(s.Component, s.Image)
	}
	desired, err := u.Git(s.Node)
	if err != nil {
		return send, false, err
	}
	return active.WithSection(s.Component, s.Image, desired)
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
