//go:build linux

package talosenv

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/patience"
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

	// Upgrade gives them the images of Kubernetes [NextKubernetes] as well, by tag.
	// Tests with it are of the nightly level.
	Upgrade bool

	// Swap lets nodes be started anew with the next release of Talos and all that they
	// have stored: see [Cluster.StartSwaps]. It gives them the images that this takes.
	// Tests with it are of the nightly level.
	Swap bool

	// Bastion puts the nodes where this machine does not reach them, behind an
	// SSH server that passes connections on: see [Cluster.StartBastion].
	Bastion bool

	// Network is the nodes' network, if it has to be a certain one: only with
	// Bastion, as the host's own networks are of no concern then.
	Network netip.Prefix
}

// Cluster is a set of nodes on a network of their own, each in maintenance
// mode as if it had just been booted for the first time.
type Cluster struct {
	ControlPlanes []*Node
	Workers       []*Node

	booting sync.Mutex
	booted  []*Node

	// Gateway is the address on the nodes' network of this machine, or of the
	// bastion.
	Gateway netip.Addr

	bed     bed
	claim   *claim
	network *network
	images  *registry
	bastion *process
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

// Nodes are all of them, control planes first, and at the end those that were
// booted later.
func (c *Cluster) Nodes() []*Node {
	return slices.Concat(c.ControlPlanes, c.Workers, c.booted)
}

func (c *Cluster) start(ctx context.Context, o Options) (err error) {
	if c.claim, err = claimNetwork(); err != nil {
		return err
	}

	c.logs = c.claim.logs

	if c.network, err = startNetwork(ctx, c.bed, c.claim, o); err != nil {
		return err
	}

	c.Gateway = c.network.gateway()

	if err = c.network.do(func() error {
		c.images, err = startRegistry(c.Gateway, c.bed.images())
		return err
	}); err != nil {
		return err
	}

	for i := range o.ControlPlanes {
		if _, err := c.boot(&c.ControlPlanes, fmt.Sprintf("cp-%d", i+1), c.network.node(i)); err != nil {
			return err
		}
	}

	for i := range o.Workers {
		if _, err := c.boot(&c.Workers, fmt.Sprintf("worker-%d", i+1), c.network.node(o.ControlPlanes+i)); err != nil {
			return err
		}
	}

	return c.wait(ctx, c.Nodes()...)
}

// boot adds a node to a list, and starts it.
func (c *Cluster) boot(list *[]*Node, name string, address netip.Addr) (*Node, error) {
	n := &Node{Name: name, Address: address, MAC: macOf(address), runs: system{release: c.bed.release}}
	*list = append(*list, n)

	if c.bed.releases != nil {
		n.disk = filepath.Join(c.claim.folder, "disks", name)
		n.runs.schematic = Schematic
	}

	if err := n.start(c); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}

	return n, nil
}

// wait waits until nodes answer.
func (c *Cluster) wait(ctx context.Context, nodes ...*Node) error {
	ctx, cancel := patience.Context(ctx, startWithin)
	defer cancel()

	for _, n := range nodes {
		if err := n.waitAPI(ctx, c.network); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
	}

	return nil
}

func (c *Cluster) bootLater(name string, address netip.Addr) (*Node, error) {
	c.booting.Lock()
	defer c.booting.Unlock()

	return c.boot(&c.booted, name, address)
}

// Boot starts one more node, with an address of the nodes' network, and waits
// until it is in maintenance mode. Several goroutines may call it.
func (c *Cluster) Boot(ctx context.Context, name string, address netip.Addr) (*Node, error) {
	n, err := c.bootLater(name, address)
	if err != nil {
		return nil, err
	}

	return n, c.wait(ctx, n)
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

	errs = append(errs, c.StopBastion())

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
