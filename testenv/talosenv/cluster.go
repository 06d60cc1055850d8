//go:build linux

package talosenv

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Options say which nodes a cluster has.
type Options struct {
	ControlPlanes int
	Workers       int

	// Talos is the release that the nodes run: "1.13", the default, or "1.14".
	Talos string

	// Kubernetes gives the nodes a kubelet that runs pods, and the images of
	// the control plane. Without it they get a stand-in, which suffices for
	// everything but Kubernetes itself, and etcd.
	Kubernetes bool
}

// Cluster is a set of nodes on a network of their own, each in maintenance
// mode as if it had just been booted for the first time.
type Cluster struct {
	ControlPlanes []*Node
	Workers       []*Node

	// Gateway is the address of this machine on the nodes' network.
	Gateway netip.Addr

	bed     bed
	claim   *claim
	network *network
	images  *registry
	logs    string // folder of the nodes' output
}

// startWithin is how long a node may take until its API answers.
const startWithin = time.Minute

// Start starts a cluster, waits until every node is in maintenance mode, and
// stops it when the test ends. If the test fails, the logs are kept and their
// folder is printed.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()

	c := &Cluster{bed: findBed(t, o)}

	t.Cleanup(func() { c.cleanUp(t) })

	if err := c.start(t.Context(), o); err != nil {
		t.Fatal(err)
	}

	return c
}

// Nodes are all of them, control planes first.
func (c *Cluster) Nodes() []*Node {
	return append(c.ControlPlanes[:len(c.ControlPlanes):len(c.ControlPlanes)], c.Workers...)
}

func (c *Cluster) start(ctx context.Context, o Options) (err error) {
	if c.claim, err = claimNetwork(); err != nil {
		return err
	}

	c.logs = c.claim.logs

	if c.network, err = startNetwork(ctx, c.bed, c.claim, c.logs); err != nil {
		return err
	}

	c.Gateway = c.network.host

	if c.images, err = startRegistry(c.network.host, c.bed.images()); err != nil {
		return err
	}

	for i := range o.ControlPlanes + o.Workers {
		address := c.network.node(i)
		n := &Node{Name: fmt.Sprintf("cp-%d", i+1), Address: address, MAC: macOf(address)}

		list := &c.ControlPlanes
		if i >= o.ControlPlanes {
			n.Name, list = fmt.Sprintf("worker-%d", i-o.ControlPlanes+1), &c.Workers
		}

		*list = append(*list, n)

		if err := n.start(c); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
	}

	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()

	for _, n := range c.Nodes() {
		if err := n.waitAPI(ctx); err != nil {
			return fmt.Errorf("%s: %w; see %s", n.Name, err, n.process.log)
		}
	}

	return nil
}

// cleanUp stops everything, and keeps the logs of a test that failed.
func (c *Cluster) cleanUp(t testing.TB) {
	t.Helper()

	if t.Failed() {
		for _, n := range c.Nodes() {
			n.saveLogs(c.logs)
		}
	}

	if err := c.stop(); err != nil {
		t.Errorf("stopping the nodes: %v", err)
	}

	switch {
	case c.logs == "":
	case t.Failed():
		t.Logf("the logs of the nodes are in %s", c.logs)
	default:
		if err := os.RemoveAll(c.logs); err != nil {
			t.Error(err)
		}
	}
}

// stop ends all processes, with which the network and all mounts go away, and
// then gives back what remains: cgroups, the name, and sysctls.
func (c *Cluster) stop() error {
	var errs []error

	for _, n := range c.Nodes() {
		errs = append(errs, n.Stop())
	}

	if c.images != nil {
		errs = append(errs, c.images.stop())
	}

	if c.network != nil {
		errs = append(errs, c.network.stop())
	}

	if c.claim != nil {
		errs = append(errs, c.claim.release())
	}

	return errors.Join(errs...)
}

// saveLogs copies the logs that the node keeps to itself.
func (n *Node) saveLogs(folder string) {
	if n.process == nil {
		return
	}

	// Best effort: the node may be gone, and the test has failed already.
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/root/var/log/*.log", n.process.pid()))
	for _, name := range names {
		if data, err := os.ReadFile(name); err == nil {
			_ = os.WriteFile(filepath.Join(folder, n.Name+"-"+filepath.Base(name)), data, 0o644)
		}
	}
}
