package nodes_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/health"
	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/sim/talossim/simtest"
)

// canary stands for every secret of a machine configuration.
const canary = "CANARYQZX"

// world is a fleet of simulated nodes, what is desired of them, and everything
// around that a run needs.
type world struct {
	testing.TB
	fleet   *talossim.Fleet
	keys    *simtest.Cluster
	kube    *fakeKube
	intents *intents
	records *records

	mu       sync.Mutex
	machines []nodes.Machine
	want     map[string]string // configurations of the tree
	parsed   map[string]*nodeconfig.Config
	bought   int // machines, so far
	secrets  int // and Secrets
	told     []string
	onTell   func(string) // nil: nobody else
	lost     string       // a machine that does not come back
	disk     string       // that Talos is installed on; empty: nobody looks at disks
	signed   node.Credentials
	renew    time.Time

	// How a run plans, and of which nodes it expects nothing; nil: as apply does.
	make    func(nodeplan.Desired, nodeplan.Observed, nodeplan.Policy) (*nodeplan.Plan, error)
	leaving []string
	every   time.Duration   // between looks; 0: 10 seconds
	way     reach.Transport // to the machines; nil: as everybody goes
	// Nothing is recorded but on the machines: they exist already.
	forgetful bool
	// What a lost etcd is made from.
	recovery nodes.Recovery
}

// newWorld is one whose time is that of the bubble that the test is in.
func newWorld(t testing.TB) *world { return newWorldIn(t, bubbleClock{}) }

func newWorldIn(t testing.TB, clock hetznersim.Clock) *world {
	t.Helper()
	return newWorldWith(t, talossim.Options{Random: rand.Reader, Clock: clock})
}

func newWorldWith(t testing.TB, options talossim.Options) *world {
	t.Helper()
	w := &world{
		TB: t, fleet: talossim.New(options), keys: simtest.NewCluster(t, "demo"),
		kube: &fakeKube{drained: map[string]bool{}}, intents: &intents{}, records: newRecords(true), want: map[string]string{},
	}
	w.kube.rewrite = w.rewriteSecrets
	w.keys.Identify("demo-1")
	t.Cleanup(w.fleet.Close)
	return w
}

// boot adds machines in maintenance mode, and what the tree has for them: names
// that begin with cp are control planes.
func (w *world) boot(names ...string) {
	w.Helper()
	for _, name := range names {
		w.buy(name)
		w.configure(name)
	}
	w.pass(5 * time.Minute)
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	_ = w.fleet.Clock().Sleep(context.Background(), d)
	w.fleet.Settle()
}

// buy adds a machine.
func (w *world) buy(name string) {
	n := len(w.fleet.Machines()) + 1
	for slices.ContainsFunc(w.machines, func(m nodes.Machine) bool { return m.Address == address(n) }) {
		n++
	}
	w.fleet.Add(talossim.Spec{Name: name, Public: []string{address(n)}, Installed: true}).PowerOn()
	w.forget(name)
	w.bought++
	w.machines = append(w.machines, nodes.Machine{Name: name, Role: role(name), InTree: true, ID: fmt.Sprint(w.bought), Address: address(n)})
}

func address(n int) string { return fmt.Sprintf("192.0.%d.%d", 2+n/250, n%250) }

// forget takes a machine from the list of those that somebody knows.
func (w *world) forget(name string) {
	w.machines = slices.DeleteFunc(w.machines, func(m nodes.Machine) bool { return m.Name == name })
}

// configure lets the tree have a node, with more lines in its machine section.
func (w *world) configure(name string, more ...string) {
	more = append(more, "  sysctls: {user.secret: "+canary+"}")
	if role(name) == nodeplan.ControlPlane {
		w.want[name] = w.keys.ControlPlane(name, more...)
	} else {
		w.want[name] = w.keys.Worker(name, more...)
	}
}

// lose lets a machine die for good.
func (w *world) lose(name string) {
	w.fleet.Lose(name)
	w.lost = name
}

// drop takes a node out of the tree; its machine stays.
func (w *world) drop(names ...string) {
	for _, name := range names {
		delete(w.want, name)
		for i := range w.machines {
			if w.machines[i].Name == name {
				w.machines[i].InTree = false
			}
		}
	}
}

func role(name string) string {
	if strings.HasPrefix(name, "cp") {
		return nodeplan.ControlPlane
	}
	return nodeplan.Worker
}

func (w *world) credentials() (node.Credentials, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.fleet.Clock().Now(); now.Before(w.renew) {
		return w.signed, nil
	}
	w.renew = w.fleet.Clock().Now().Add(30 * time.Minute)
	certificate, key := w.keys.Sign(w.fleet.Clock().Now().Add(-time.Minute), "os:admin")
	w.signed = node.Credentials{Authority: w.keys.Authority(), Certificate: certificate, Key: secret.New(string(key))}
	return w.signed, nil
}

// cluster is a run's view.
func (w *world) cluster() *nodes.Cluster {
	c := &nodes.Cluster{
		Name: "demo", Machines: slices.Clone(w.machines), Through: w.through(), Clients: &nodes.Clients{}, Credentials: w.credentials, Clock: w.fleet.Clock(),
		Patience: w.patience(), Records: w.records, Intents: w.intents, Kubernetes: w.kube, Recovery: w.recovery,
		Snapshot: func(ctx context.Context, from *node.Client) (string, error) {
			return "a file", from.Snapshot(ctx, &strings.Builder{})
		},
		Notify: func(step, text string) { w.tell(step + ": " + text) },
	}
	w.Cleanup(c.Clients.Close)
	if w.disk != "" {
		c.Disks = func(context.Context, string) (*node.DiskSelector, error) {
			return node.SelectDisk([]byte("disk: "+w.disk), "")
		}
	}
	if w.forgetful {
		c.Intents, c.Forgetful, c.Run = &intents{}, true, rand.Text()
	}
	return c
}

// patience looks less often than that of a run, which costs a test time.
func (w *world) patience() nodes.Patience {
	p := nodes.DefaultPatience()
	p.Every = cmp.Or(w.every, 10*time.Second)
	return p
}

// through is the way to the machines.
func (w *world) through() reach.Transport {
	if w.way != nil {
		return w.way
	}
	return w.fleet
}

func (w *world) tell(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, text)
	if w.onTell != nil {
		w.onTell(text)
	}
}

// parse reads what the tree has for a node, once for all looks.
func (w *world) parse(name, text string) (*nodeconfig.Config, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	file := "nodes/" + name + ".yaml"
	if config, ok := w.parsed[file+text]; ok {
		return config, nil
	}
	config, err := nodeconfig.Parse(file, []byte(text))
	if err == nil {
		if w.parsed == nil {
			w.parsed = map[string]*nodeconfig.Config{}
		}
		w.parsed[file+text] = config
	}
	return config, err
}

// plan looks and plans.
func (w *world) plan(ctx context.Context, c *nodes.Cluster, policy nodeplan.Policy) (*nodeplan.Plan, error) {
	desired := nodeplan.Desired{Cluster: "demo"}
	for _, m := range w.machines {
		if text, ok := w.want[m.Name]; ok {
			config, err := w.parse(m.Name, text)
			if err != nil {
				return nil, err
			}
			desired.Nodes = append(desired.Nodes, nodeplan.Want{Name: m.Name, Role: m.Role, Config: config})
		}
	}
	c.Allow(policy.Trust...)
	states, err := c.Settled(ctx, nil)
	if err != nil {
		return nil, err
	}
	c.Health = w.guard(c, states)
	observed, err := c.Observed(ctx, states)
	if err != nil {
		return nil, err
	}
	if w.make != nil {
		return w.make(desired, observed, policy)
	}
	return nodeplan.Make(desired, observed, policy)
}

func (w *world) guard(c *nodes.Cluster, states []nodes.NodeState) *health.Guard {
	g := &health.Guard{Clock: c.Clock, Patience: node.Patience{Every: 15 * time.Second, Within: 10 * time.Minute}, Settle: time.Minute, Except: slices.Clone(w.leaving)}
	for _, s := range states {
		if s.Reach != nodeplan.Configured || !s.Machine.InTree {
			g.Except = append(g.Except, s.Machine.Name)
		}
	}
	g.Collect = func(ctx context.Context) health.Facts {
		collector := health.Collector{Kubernetes: func(context.Context) ([]health.KubeNode, error) { return nil, errors.New("none") }}
		for _, s := range states {
			if s.Reach != nodeplan.Configured {
				continue
			}
			client, err := c.Connect(s.Machine)
			if err != nil {
				w.Fatal(err)
			}
			collector.Targets = append(collector.Targets, health.Target{Name: s.Machine.Name, ControlPlane: s.Machine.Role == nodeplan.ControlPlane, Source: client})
		}
		return collector.Collect(ctx)
	}
	return g
}

// apply does what a run does with nodes.
func (w *world) apply(ctx context.Context, policy nodeplan.Policy) (*nodeplan.Plan, error) {
	return w.applyAs(ctx, w.cluster(), policy)
}

// refusals is why a plan must not be executed.
func refusals(p *nodeplan.Plan) string {
	var texts []string
	for _, n := range p.Refusals {
		texts = append(texts, n.Problem().Error())
	}
	for _, name := range p.Consents() {
		texts = append(texts, "node/"+name+": removing it needs consent")
	}
	return strings.Join(texts, "; ")
}

// applyAs is apply as a run whose view was changed.
func (w *world) applyAs(ctx context.Context, c *nodes.Cluster, policy nodeplan.Policy) (*nodeplan.Plan, error) {
	defer c.Clients.Close()
	first, err := w.plan(ctx, c, policy)
	if err != nil {
		return nil, err
	}
	if text := refusals(first); text != "" {
		return first, errors.New(text)
	}
	loop := c.Loop(first, func(ctx context.Context) (*nodeplan.Plan, error) { return w.plan(ctx, c, policy) })
	return loop.Converge(ctx, first, execute.Options[nodeplan.Step]{Parallel: 8, Report: func(e execute.Event[nodeplan.Step]) {
		if e.State == execute.Done {
			w.tell("done " + nodes.Name(e.Step))
		}
		if e.Err != nil {
			w.tell("failed " + nodes.Name(e.Step) + ": " + e.Err.Error())
		}
	}})
}

// mustApply applies, and wants every node as the tree has it, and nothing to
// have gone wrong on the way.
func (w *world) mustApply(policy nodeplan.Policy) *nodeplan.Plan {
	w.Helper()
	p, err := w.apply(context.Background(), policy)
	if err != nil {
		w.Fatalf("%v\n%s", err, strings.Join(w.told, "\n"))
	}
	w.check()
	if len(p.Unreachable) > 0 {
		w.Fatalf("away: %v\n%s", p.Unreachable, strings.Join(w.told, "\n"))
	}
	for name, text := range w.want {
		if got := w.fleet.Machine(name).Config(); got != text {
			w.Errorf("%s has another configuration", name)
		}
	}
	return p
}

// check looks for violations and secrets.
func (w *world) check() {
	w.Helper()
	if v := w.fleet.Violations(); len(v) > 0 {
		w.Fatalf("%v\n%s", v, strings.Join(w.told, "\n"))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if text := strings.Join(w.told, "\n"); strings.Contains(text, canary) {
		w.Errorf("a secret was told:\n%s", text)
	}
}

// steps are those that were told to be done, in order.
func (w *world) steps() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var done []string
	for _, t := range w.told {
		if name, ok := strings.CutPrefix(t, "done "); ok {
			done = append(done, name)
		}
	}
	w.told = nil
	return strings.Join(done, ", ")
}

// intents keep one.
type intents struct {
	mu     sync.Mutex
	intent bootstrap.Intent
}

func (i *intents) Intent(context.Context) (bootstrap.Intent, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.intent, nil
}

func (i *intents) Record(_ context.Context, intent bootstrap.Intent) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.intent = intent
	return nil
}

// fakeKube knows nodes by name.
type fakeKube struct {
	mu      sync.Mutex
	nodes   []string
	drained map[string]bool
	ids     map[string]string // what the cloud calls their machines
	err     error
	rewrite func(context.Context, func(string)) error
}

func (k *fakeKube) RewriteSecrets(ctx context.Context, notify func(string)) error {
	return k.rewrite(ctx, notify)
}

func (k *fakeKube) Registered(context.Context) (found []kube.Node, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, n := range k.nodes {
		found = append(found, kube.Node{Name: n, ProviderID: k.ids[n], Ready: true, Drained: k.drained[n]})
	}
	return found, k.err
}

func (k *fakeKube) Drain(_ context.Context, name string, _ bool, _ func(string)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drained[name] = true
	return k.err
}

func (k *fakeKube) Uncordon(_ context.Context, name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.drained, name)
	return k.err
}

func (k *fakeKube) DeleteNode(_ context.Context, name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.drained, name)
	k.nodes = slices.DeleteFunc(k.nodes, func(n string) bool { return n == name })
	return k.err
}

// register makes Kubernetes know nodes.
func (k *fakeKube) register(names ...string) { k.nodes = append(k.nodes, names...) }

// newWorldOutside is one for a test that needs a network: that of a bubble would
// stand still. Its time passes with each look.
func newWorldOutside(t testing.TB) *world {
	return newWorldIn(t, hetznersim.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)))
}

// inBubble is a test in a time of its own, which passes when everybody waits.
func inBubble(test func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { synctest.Test(t, test) }
}

// bubbleClock is the time of such a test.
type bubbleClock struct{}

func (bubbleClock) Now() time.Time { return time.Now() }

func (bubbleClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
