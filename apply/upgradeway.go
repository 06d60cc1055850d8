package apply

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/schemas"
)

// upgradeWay is the way to nodes that are upgraded.
type upgradeWay struct {
	cluster *nodes.Cluster
	infra   *schemas.Infrastructure
	calls   *atomic.Int64
}

// node connects to a node of the tree.
func (w upgradeWay) node(name string) (*node.Client, error) {
	for _, m := range w.cluster.Machines {
		if m.Name != name {
			continue
		}
		if m.Address == "" {
			return nil, diag.On("node "+name, "its address is not known: %s", m.Unknown).WithCode(diag.Remote)
		}
		return w.cluster.Connect(m)
	}
	return nil, diag.On("node "+name, "the tree does not have it").WithCode(diag.Usage)
}

// autoscaled connects to a node that the autoscaler made, by an address that its
// kubelet names: a public one only if nodes are reached by such.
func (w upgradeWay) autoscaled(n kube.Node) (*node.Client, error) {
	address := n.Internal
	if w.infra.Access.Mode == accessPublic && w.infra.Access.Jump == "" {
		address = n.External
	}
	if address == "" {
		return nil, diag.On("node "+n.Name, "its kubelet names no address that leads to it").WithCode(diag.Remote)
	}
	for _, m := range w.cluster.Machines {
		if m.Address != "" && at(m, apiPort) == net.JoinHostPort(address, apiPort) { // a Node says where it is by itself
			return nil, diag.On("node "+n.Name, "its kubelet names the address of %s", m.Name).WithHint("remove the Node, and look at the machine that made it").WithCode(diag.Conflict)
		}
	}
	return w.cluster.Connect(nodes.Machine{Name: n.Name, Role: nodeplan.Worker, Address: address, Calls: w.calls})
}

// upgradeAPI is the API of Kubernetes, as far as upgrades need it.
type upgradeAPI struct{ controlPlaneAPI }

// Disruption is what pods suffer when their nodes reboot.
func (k upgradeAPI) Disruption(ctx context.Context) (d kube.Disruption, err error) {
	err = k.do(ctx, func(c *kube.Client) error {
		d, err = c.Disruption(ctx)
		return err
	})
	return d, err
}

// Drain cordons and drains a node, but for pods of the budgets in over.
func (k upgradeAPI) Drain(ctx context.Context, name string, over []string, notify func(string)) error {
	return k.do(ctx, func(c *kube.Client) error {
		return c.Drain(ctx, name, kube.DrainOptions{Within: drainWithin, Over: over, Notify: notify})
	})
}

// StaticPods are the programs of control plane nodes.
func (k upgradeAPI) StaticPods(ctx context.Context) (found []kube.StaticPod, err error) {
	err = k.do(ctx, func(c *kube.Client) error {
		found, err = c.StaticPods(ctx)
		return err
	})
	return found, err
}

// Serves asks the API server of one node for its version, and whether it serves requests.
func (k upgradeAPI) Serves(ctx context.Context, name string) (version string, err error) {
	err = k.only(name).do(ctx, func(c *kube.Client) error {
		if err := c.Alive(ctx); err != nil {
			return err
		}
		version, err = c.Version(ctx)
		return err
	})
	return version, err
}

// Manifests makes Talos' own objects what they are to be.
func (k upgradeAPI) Manifests(ctx context.Context, objects []manifest.Object, dryRun bool) (changed []string, err error) {
	err = k.do(ctx, func(c *kube.Client) error {
		changed, err = c.Manifests(ctx, objects, dryRun)
		return err
	})
	return changed, err
}

// Unready are the workloads among objects that do not run yet.
func (k upgradeAPI) Unready(ctx context.Context, objects []manifest.Object) (waits []string, err error) {
	err = k.do(ctx, func(c *kube.Client) error {
		waits, err = c.Unready(ctx, objects)
		return err
	})
	return waits, err
}

// Mark notes at a node how far its upgrade is.
func (k upgradeAPI) Mark(ctx context.Context, name, mark string) error {
	return k.do(ctx, func(c *kube.Client) error { return c.MarkUpgrade(ctx, name, mark) })
}

// Before notes at a node the Talos that it ran before.
func (k upgradeAPI) Before(ctx context.Context, name, text string) error {
	return k.do(ctx, func(c *kube.Client) error { return c.NoteBefore(ctx, name, text) })
}

// Remove removes a node whose machine is gone.
func (k upgradeAPI) Remove(ctx context.Context, name string) error { return k.DeleteNode(ctx, name) }

// Removed are the uses of API versions that end. Each API server counts for itself what
// its clients ask for.
func (k upgradeAPI) Removed(ctx context.Context, until int) (found []kube.Use, err error) {
	err = k.do(ctx, func(c *kube.Client) error {
		found, err = kube.RemovedUses(ctx, c, until)
		return err
	})
	for _, m := range k.machines {
		if err != nil {
			return nil, err
		}
		err = k.only(m.Name).do(ctx, func(c *kube.Client) error {
			asked, err := kube.DeprecatedRequests(ctx, c, m.Name, until)
			found = append(found, asked...)
			return err
		})
	}
	return found, err
}
