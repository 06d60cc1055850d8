package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// Kubernetes is the API of Kubernetes, as far as upgrades need it.
type Kubernetes interface {
	// Registered are the nodes that Kubernetes knows, with their marks.
	Registered(ctx context.Context) ([]kube.Node, error)
	// Disruption is what stands in the way of pods that leave their nodes.
	Disruption(ctx context.Context) (kube.Disruption, error)
	// Drain cordons a node, and waits until its pods have left. Those of the budgets in
	// over stay: they end with the node, and start with it again.
	Drain(ctx context.Context, node string, over []string, notify func(string)) error
	// Uncordon lets pods in again, unless somebody else keeps them out.
	Uncordon(ctx context.Context, node string) error
	// Mark writes a mark at a node; an empty one removes it.
	Mark(ctx context.Context, node, mark string) error
	// Before writes at a node which Talos it ran before.
	Before(ctx context.Context, node, text string) error
	// Remove removes a node whose machine is gone. One that is not there is no error.
	Remove(ctx context.Context, node string) error
}

// Programs are those of Kubernetes, as its API shows them.
type Programs interface {
	// StaticPods are the programs of control plane nodes, as their kubelets report them.
	StaticPods(ctx context.Context) ([]kube.StaticPod, error)
	// Serves asks the API server of one node, and no other, for its version. It fails if
	// that does not serve requests.
	Serves(ctx context.Context, node string) (version string, err error)
	// Manifests makes Talos' own objects what they are to be, and returns which of them
	// changed; a dry run only says which would.
	Manifests(ctx context.Context, objects []manifest.Object, dryRun bool) (changed []string, err error)
	// Removed are the uses of API versions that end up to a minor version of Kubernetes 1.
	Removed(ctx context.Context, until int) ([]kube.Use, error)
	// Unready are the workloads among objects that do not run as described yet.
	Unready(ctx context.Context, objects []manifest.Object) (waits []string, err error)
}

// Upgrade is an upgrade of Talos and Kubernetes on the nodes of a cluster.
type Upgrade struct {
	Desired upgradeplan.Desired
	Policy  upgradeplan.Policy
	// Connect returns the client for a node with its configuration.
	Connect func(node string) (*node.Client, error)
	// Reach returns the client for a node that the autoscaler made, with the
	// addresses that its kubelet names.
	Reach      func(kube.Node) (*node.Client, error)
	Kubernetes Kubernetes
	// Servers are those of the autoscaler; without a policy that deletes them they are not
	// asked for.
	Servers Servers
	// Programs are those of Kubernetes; nil is an upgrade of Talos only.
	Programs Programs
	// Git is the configuration that Git has for a node. Without Programs it is not asked.
	Git func(node string) (*nodeconfig.Config, error)
	// Snapshot saves etcd, asking one of its members.
	Snapshot func(ctx context.Context, from *node.Client) error
	// Drift says what apply would change, and must change before an upgrade.
	Drift    func(ctx context.Context) ([]string, error)
	Clock    node.Clock
	Patience Patience
	// RebootMode is how nodes boot what was installed.
	RebootMode node.RebootMode
	// Keep fails if this run must not change anything any more.
	Keep func(context.Context) error
	// Began is told that a step begins, and Ended that it has ended; may be nil.
	Began func(upgradeplan.Step)
	Ended func(upgradeplan.Step, error)
	// Notify is told, by step, what happens, and what is waited for; nothing, when the
	// wait is over and was no step.
	Notify func(step, text string)
	// Expected are nodes that answered when the plan was made. One that does not answer any
	// more is asked some more times before it is left.
	Expected []string
	// ID is what no other run has, without spaces.
	ID string
	// Stopped is why a run has ended before it was done; of no use while it runs.
	Stopped []upgradeplan.Note
	// Left is the error of a run that is done, and has left nodes that are not reached.
	Left error

	mu       sync.Mutex
	saved    []string            // hops with a snapshot of this run
	digests  map[string]string   // images by digest, by their names
	facts    map[string]facts    // by node
	readings map[string]*reading // by node
	made     map[string]kube.Node
	closed   map[string]bool // nodes that a run has cordoned
	resting  map[string]resting
	listed   map[string]listed // images, by node
	pods     pods
	objects  string              // the version that Talos' objects have; empty: nobody has asked
	pulled   map[string][]string // images of programs that this run has pulled, by node
	drift    []string            // nil: nobody has been asked
	stale    *string             // nil: nobody has been asked
	removed  removed
}

// lost is how many answers in a row may be lost before a run ends.
const lost = 5

// Run takes steps until there is nothing left to do, or something is not as it should
// be. It can be ended at any moment, and run again.
func (u *Upgrade) Run(ctx context.Context) error {
	if u.Programs == nil && u.Policy.Component != upgradeplan.OnlyTalos {
		return diag.On("upgrade", "the programs of Kubernetes cannot be observed, and so only Talos is upgraded").WithHint("use --talos")
	}
	if err := u.run(ctx); err != nil {
		return u.release(ctx, err)
	}
	return nil
}

// Plan observes the cluster, and returns what a run would do.
func (u *Upgrade) Plan(ctx context.Context) (*upgradeplan.Plan, error) {
	seen, err := observer{u}.observe(ctx)
	if err != nil {
		return nil, err
	}
	return upgradeplan.Make(u.Desired, seen, u.Policy), nil
}

func (u *Upgrade) run(ctx context.Context) error {
	awaited := awaited{notify: u.Notify}
	defer awaited.say(nil)
	wait := patience{clock: u.Clock, within: u.Patience.Healthy}
	for failures, polls, silent := 0, 0, 0; ; polls++ {
		if err := u.Keep(ctx); err != nil {
			return err
		}
		seen, decision, err := u.decide(ctx)
		awaited.say(decision.Wait)
		switch {
		case err != nil && (ctx.Err() != nil || !passing(err) && !(polls > 0 && diag.CodeOf(err) == diag.Secrets)): // an API server that was asked before may be starting
			return err
		case err != nil:
			err = wait.hold(ctx, u.Patience.Every, err)
		case len(decision.Steps) > 0:
			wait.begin()
			if err = u.take(ctx, decision.Steps); err == nil {
				failures, silent = 0, 0
			} else if failures++; ctx.Err() == nil && failures <= lost && (node.Transient(err) || kube.Unavailable(err)) {
				err = u.Clock.Sleep(ctx, time.Duration(failures)*u.Patience.Every)
			}
		case decision.Done && silent < lost && u.unheard(seen):
			silent++
			err = u.Clock.Sleep(ctx, u.Patience.Every)
		case decision.Done:
			u.Left = upgradeplan.Unreached(u.Desired, seen, u.Policy)
			return nil
		case len(decision.Stop) > 0:
			u.Stopped = decision.Stop
			err = problems(decision.Stop, diag.Conflict)
		default:
			err = wait.hold(ctx, u.Patience.Every, problems(decision.Wait, diag.NotReady))
		}
		if err != nil {
			return err
		}
	}
}

// decide observes, and says what follows.
func (u *Upgrade) decide(ctx context.Context) (upgradeplan.Observed, upgradeplan.Decision, error) {
	seen, err := observer{u}.observe(ctx)
	if err != nil {
		return seen, upgradeplan.Decision{}, err
	}
	return seen, upgradeplan.Next(u.Desired, seen, u.Policy), nil
}

// passing reports whether an observation may succeed when it is made again: nobody
// answered, and nothing was refused.
func passing(err error) bool {
	code := diag.CodeOf(err)
	return code == diag.Remote || code == diag.NotReady
}

// patience is how long the same is waited for.
type patience struct {
	clock  node.Clock
	within time.Duration
	since  time.Time
}

func (p *patience) begin() { p.since = time.Time{} }

// hold waits a little, and returns what is waited for when that has taken too long.
func (p *patience) hold(ctx context.Context, every time.Duration, what error) error {
	now := p.clock.Now()
	if p.since.IsZero() {
		p.since = now
	}
	if now.Sub(p.since) > p.within {
		return what
	}
	return p.clock.Sleep(ctx, every)
}

// problems are notes as an error.
func problems(notes []upgradeplan.Note, code diag.Code) error {
	var list diag.List
	for _, n := range notes {
		list.Add(Problem(n, code))
	}
	return list.Err()
}

// Problem is a note as a problem, for an exit code; that somebody is not let in has its own.
func Problem(n upgradeplan.Note, code diag.Code) *diag.Problem {
	if n.AccessDenied {
		code = diag.Secrets
	}
	object := "upgrade"
	if n.Node != "" {
		object = "node " + n.Node
	}
	return diag.On(object, "%s", strings.TrimSpace(n.ID+" "+n.Text)).WithHint("%s", n.Hint).WithCode(code)
}

// atOnce is how many nodes are worked on at the same time, if not more workers may be
// away at once.
const atOnce = 8

// take takes steps, each of another node. Those that have begun end before it
// returns.
func (u *Upgrade) take(ctx context.Context, steps []upgradeplan.Step) error {
	errs := make([]error, len(steps))
	var group sync.WaitGroup
	free := make(chan struct{}, max(atOnce, u.Policy.Parallel(len(u.Desired.Nodes))))
	for i, s := range steps {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			errs[i] = u.notifyOf(s, func() error { return stepper{u}.do(ctx, s) })
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// notifyOf tells of a step when it begins, and when it has ended.
func (u *Upgrade) notifyOf(s upgradeplan.Step, do func() error) error {
	if u.Began != nil {
		u.Began(s)
	}
	err := do()
	if u.Ended != nil {
		u.Ended(s, err)
	}
	return err
}

// Name is what a step is called in progress and reports.
func Name(s upgradeplan.Step) string {
	if s.Action == upgradeplan.Configure {
		return s.Component + " " + s.Node
	}
	return fmt.Sprintf("%s %s", s.Action, s.Node)
}

// controlPlanes are the control plane nodes of the tree.
func (u *Upgrade) controlPlanes() (names []string) {
	for _, w := range u.Desired.Nodes {
		if w.Role == upgradeplan.ControlPlane {
			names = append(names, w.Name)
		}
	}
	slices.Sort(names)
	return names
}
