package upgrade_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/upgrade"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/sim/talossim/simtest"
)

const (
	older     = "0000000000000000000000000000000000000000000000000000000000000000"
	schematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
	image     = "factory.talos.dev/metal-installer/" + schematic
)

// extensionsOf are those of images, by schematic.
var extensionsOf = map[string][]string{older: {"iscsi-tools"}, schematic: {"iscsi-tools", "qemu-guest-agent"}}

// world is a cluster of simulated nodes, and what an upgrade of it needs.
type world struct {
	*testing.T
	fleet   *talossim.Fleet
	keys    *simtest.Cluster
	kube    *fakeKube
	up      *upgrade.Upgrade
	clients map[string]*node.Client
	mu      sync.Mutex
	runs    int
	saved   int
	told    []string
	// What the last run said of nodes that it did not reach, when it was done.
	unreached error
	expected  []string          // nodes that answered when the plan was made
	drift     []string          // what apply must do first
	servers   *fakeServers      // of the autoscaler
	replaced  []int             // numbers of the nodes that it has made since
	more      map[string]string // documents that Git has besides, by node
	// The version of Kubernetes that the configuration of a node begins with; nil: they
	// name none.
	kubernetes func(node string) string
	called     func(talossim.Call)
	signed     map[string]time.Time // when clients got their certificates
}

// newWorld starts a cluster: the version of Talos of each node, by its name; those
// that begin with cp are control planes, and those that begin with auto- are what the
// autoscaler made. Every second one boots with systemd-boot. A change is made to what
// each machine is bought as.
func newWorld(t *testing.T, talos map[string]string, change ...func(*talossim.Spec)) *world {
	t.Helper()
	return newWorldAt(t, nil, talos, change...)
}

// newWorldAt is [newWorld] with a clock.
func newWorldAt(t *testing.T, clock hetznersim.Clock, talos map[string]string, change ...func(*talossim.Spec)) *world {
	t.Helper()
	return newWorldOf(t, clock, nil, talos, change...)
}

// newWorldOf is [newWorldAt] with configurations that name versions of Kubernetes, by
// node; nil: they do not.
func newWorldOf(t *testing.T, clock hetznersim.Clock, kubernetes func(node string) string, talos map[string]string, change ...func(*talossim.Spec)) *world {
	t.Helper()
	w := &world{T: t, kubernetes: kubernetes, keys: simtest.NewCluster(t, "demo"), clients: map[string]*node.Client{}, signed: map[string]time.Time{}}
	w.fleet = talossim.New(talossim.Options{Clock: clock, Random: rand.Reader, Extensions: extensionsOf,
		Called: func(c talossim.Call) {
			if w.called != nil {
				w.called(c)
			}
		}})
	w.kube = &fakeKube{world: w, nodes: map[string]*kube.Node{}, pods: map[string]kube.StaticPod{}}
	w.servers = &fakeServers{world: w}
	w.up = &upgrade.Upgrade{
		Servers: w.servers,
		Desired: upgradeplan.Desired{Cluster: "demo", Pools: map[string]upgradeplan.Want{}}, Policy: upgradeplan.Policy{Component: upgradeplan.OnlyTalos, MaxParallel: 2, Allow: []string{upgradeplan.RiskHops, upgradeplan.RiskNoReturn}},
		Connect: w.connect, Kubernetes: w.kube, Clock: w.fleet.Clock(), Patience: upgrade.DefaultPatience(),
		Reach:    w.reach,
		Drift:    func(ctx context.Context) ([]string, error) { return w.drift, ctx.Err() },
		Snapshot: func(context.Context, *node.Client) error { w.saved++; return nil },
		Keep:     func(ctx context.Context) error { return ctx.Err() },
		Notify: func(step, text string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told = append(w.told, step+": "+text)
		},
	}
	t.Cleanup(w.fleet.Close)
	for i, name := range slices.Sorted(maps.Keys(talos)) {
		spec := talossim.Spec{Name: name, Public: []string{address(i + 1)}, Installed: true, Talos: talos[name], Schematic: older, Bootloader: []talossim.Bootloader{talossim.GRUB, talossim.SystemdBoot}[i%2]}
		for _, c := range change {
			c(&spec)
		}
		w.add(spec)
	}
	w.begin()
	return w
}

// add starts a machine, and lets Git or the autoscaler have made it.
func (w *world) add(spec talossim.Spec) {
	w.fleet.Add(spec).PowerOn()
	want := upgradeplan.Want{Name: spec.Name, Role: role(spec.Name), Pool: role(spec.Name), Talos: "v1.14.1", Kubernetes: "1.35.4", Installer: image, Schematic: schematic, Extensions: []string{"iscsi-tools", "qemu-guest-agent"}, Platform: "metal"}
	if strings.HasPrefix(spec.Name, "auto-") {
		want.Group, want.Name = "auto", ""
		w.up.Desired.Pools["burst"] = want
	} else {
		w.up.Desired.Nodes = append(w.up.Desired.Nodes, want)
	}
	w.kube.nodes[spec.Name] = &kube.Node{Name: spec.Name, Kubelet: "v1.35.4", Internal: spec.Public[0], ControlPlane: want.Role == upgradeplan.ControlPlane}
}

func address(n int) string { return fmt.Sprintf("192.0.2.%d", n) }

func role(name string) string {
	if strings.HasPrefix(name, "cp") {
		return upgradeplan.ControlPlane
	}
	return upgradeplan.Worker
}

// begin configures the nodes, and waits until they run.
func (w *world) begin() {
	w.pass(5 * time.Minute)
	for _, n := range w.kube.nodes {
		bare, err := node.Maintenance(node.Target{Name: n.Name, Address: n.Internal}, w.fleet, "")
		w.must(err)
		_, err = bare.Apply(w.Context(), secret.New(w.first(n.Name)), node.Auto)
		w.must(err)
		w.must(bare.Close())
	}
	w.pass(5 * time.Minute)
	w.must(w.admin("cp-1").Bootstrap(w.Context(), false))
	w.pass(10 * time.Minute)
	for _, m := range w.fleet.Machines() {
		if m.Stage() != node.StageRunning {
			w.Fatalf("%s is %s", m.Name(), m.Stage())
		}
	}
}

// configure gives a worker another configuration, with one line more.
func (w *world) configure(name, line string) {
	_, err := w.admin(name).Apply(w.Context(), secret.New(w.keys.Worker(name, line)), node.NoReboot)
	w.must(err)
	w.pass(time.Minute)
}

func (w *world) pass(d time.Duration) {
	_ = w.fleet.Clock().Sleep(context.Background(), d)
	w.fleet.Settle()
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) client(name, at string) *node.Client {
	certificate, key := w.keys.Sign(w.fleet.Clock().Now().Add(-time.Minute), "os:admin")
	c, err := node.Connect(node.Target{Name: name, Address: at}, w.fleet,
		node.Credentials{Authority: w.keys.Authority(), Certificate: certificate, Key: secret.New(string(key))}, w.fleet.Clock().Now)
	w.must(err)
	w.Cleanup(func() { _ = c.Close() })
	return c
}

// connect knows only the nodes that Git has.
func (w *world) connect(name string) (*node.Client, error) {
	if !slices.ContainsFunc(w.up.Desired.Nodes, func(n upgradeplan.Want) bool { return n.Name == name }) {
		return nil, fmt.Errorf("node %s: Git does not have it", name)
	}
	return w.admin(name), nil
}

// admin is a client whose certificate is valid: it is for an hour.
func (w *world) admin(name string) *node.Client {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.fleet.Clock().Now(); now.Sub(w.signed[name]) > 20*time.Minute {
		w.clients[name], w.signed[name] = w.client(name, w.kube.nodes[name].Internal), now
	}
	return w.clients[name]
}

// reach connects to a node that the autoscaler made.
func (w *world) reach(n kube.Node) (*node.Client, error) {
	if w.kube.nodes[n.Name].Internal != n.Internal {
		return nil, fmt.Errorf("node %s: %s is not its address", n.Name, n.Internal)
	}
	return w.admin(n.Name), nil
}

// run is a run of its own.
func (w *world) run(ctx context.Context) error {
	w.runs++
	fresh := upgrade.Upgrade{Desired: w.up.Desired, Policy: w.up.Policy, Programs: w.up.Programs, Git: w.up.Git, Connect: w.up.Connect, Reach: w.up.Reach, Drift: w.up.Drift, Kubernetes: w.up.Kubernetes, Servers: w.up.Servers, Snapshot: w.up.Snapshot,
		Clock: w.up.Clock, Patience: w.up.Patience, RebootMode: w.up.RebootMode, Keep: w.up.Keep, Notify: w.up.Notify,
		Began: func(s upgradeplan.Step) { w.up.Notify(upgrade.Name(s), "begins") }, Expected: w.expected, ID: fmt.Sprint("run-", w.runs)}
	err := fresh.Run(ctx)
	w.unreached = fresh.Left
	return err
}

// check fails if something happened that must never happen.
func (w *world) check() {
	w.Helper()
	if v := slices.Concat(w.fleet.Violations(), w.kube.violations); len(v) > 0 {
		w.Fatalf("%s\nlast steps:\n%s", strings.Join(v, "\n"), strings.Join(w.told[max(0, len(w.told)-20):], "\n"))
	}
}

// done wants every node to be what Git says.
func (w *world) done() {
	w.Helper()
	w.check()
	for _, m := range w.fleet.Machines() {
		running, _ := m.Systems()
		n := w.kube.nodes[m.Name()]
		if running != (talossim.System{Talos: "v1.14.1", Schematic: schematic}) || n.Drained || n.Upgrade != "" || m.Stage() != node.StageRunning {
			w.Errorf("%s runs %v, is %s, drained %v, marked %q", m.Name(), running, m.Stage(), n.Drained, n.Upgrade)
		}
	}
}

// fakeKube is Kubernetes, as far as upgrades need it: nodes are ready if they run.
type fakeKube struct {
	world      *world
	mu         sync.Mutex
	nodes      map[string]*kube.Node
	calls      int
	violations []string
	strike     func(call int, after bool) // nil: nothing goes wrong
	stuck      string                     // a node that cannot be drained
	disruption kube.Disruption
	judged     func() // is called at each change
	away       [2]int // the first call that is not answered, and how many are not
	seen       int    // calls, also those that only read
	pods       map[string]kube.StaticPod
	objects    map[string]string // Talos' own, by id
	unready    []string          // of these
	uses       []kube.Use        // of what ends
}

// answers fails if the API is away.
func (k *fakeKube) answers(ctx context.Context) error {
	if k.seen++; k.seen >= k.away[0] && k.seen < k.away[0]+k.away[1] || !k.serves() {
		return unavailable()
	}
	return ctx.Err()
}

// Disruption is what a test has set.
func (k *fakeKube) Disruption(ctx context.Context) (kube.Disruption, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.disruption, k.answers(ctx)
}

// Registered are the nodes.
func (k *fakeKube) Registered(ctx context.Context) (all []kube.Node, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(k.nodes)) {
		n, m := *k.nodes[name], k.world.fleet.Machine(name)
		if m == nil {
			if strings.HasPrefix(n.Upgrade, "deleting ") {
				all = append(all, n) // its machine was deleted, and it is left
			}
			continue
		}
		running, _ := m.Systems()
		if k.world.kubernetes != nil {
			if p := m.Programs()["kubelet"]; p.Image != "" {
				k.nodes[m.Name()].Kubelet = p.Version() // as it said last
			}
			n.Kubelet = k.nodes[m.Name()].Kubelet
		}
		n.Ready, n.Talos, n.Cordoned = m.Stage() == node.StageRunning, running.Talos, n.Drained || n.Cordoned
		all = append(all, n)
	}
	return all, k.answers(ctx)
}

// change makes a change, unless the run ends before.
func (k *fakeKube) change(ctx context.Context, name string, do func(*kube.Node)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls++
	if k.strike != nil {
		k.strike(k.calls, false)
	}
	if err := k.answers(ctx); err != nil {
		return err
	}
	do(k.nodes[name])
	k.judge()
	if k.judged != nil {
		k.judged()
	}
	if k.strike != nil {
		k.strike(k.calls, true)
	}
	return ctx.Err()
}

// judge notes if more nodes are disturbed at once than may be.
func (k *fakeKube) judge() {
	count, workers := map[string]int{}, 0
	for name, n := range k.nodes {
		if role(name) == upgradeplan.Worker {
			workers++
		}
		if (n.Drained || n.Upgrade != "") && k.world.fleet.Machine(name) != nil { // not one that is lost
			count[role(name)]++
		}
	}
	if count[upgradeplan.ControlPlane] > 1 || count[upgradeplan.Worker] > k.world.up.Policy.Parallel(workers) {
		k.violations = append(k.violations, fmt.Sprintf("disturbed at once: %v", count))
	}
}

// Drain cordons a node.
func (k *fakeKube) Drain(ctx context.Context, name string, over []string, _ func(string)) error {
	err := k.change(ctx, name, func(n *kube.Node) { n.Drained = !n.Cordoned })
	for _, b := range k.disruption.Budgets {
		if err == nil && b.Stuck && slices.Contains(b.Nodes, name) && !slices.Contains(over, b.Name) {
			return fmt.Errorf("node %s: the budget %s does not let a pod go", name, b.Name)
		}
	}
	if err == nil && k.stuck == name {
		return fmt.Errorf("node %s: a budget does not let a pod go", name)
	}
	return err
}

// Uncordon lets pods in again.
func (k *fakeKube) Uncordon(ctx context.Context, name string) error {
	return k.change(ctx, name, func(n *kube.Node) { n.Drained = false })
}

// Before writes which Talos a node ran before.
func (k *fakeKube) Before(ctx context.Context, name, text string) error {
	return k.change(ctx, name, func(n *kube.Node) { n.Before = text })
}

// Remove removes a node whose machine is gone.
func (k *fakeKube) Remove(ctx context.Context, name string) error {
	return k.change(ctx, name, func(n *kube.Node) {
		if k.world.fleet.Machine(name) != nil {
			k.violations = append(k.violations, name+" is removed, and its machine is there")
		}
		delete(k.nodes, n.Name)
		k.world.replace()
	})
}

// Mark writes a mark.
func (k *fakeKube) Mark(ctx context.Context, name, mark string) error {
	return k.change(ctx, name, func(n *kube.Node) { n.Upgrade = mark })
}
