package apply

import (
	"context"
	"net/http"
	"sync"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/apply/robot"
	"github.com/talosgen/talosgen/internal/secret"
)

// Cloud is how a project at Hetzner Cloud is reached.
type Cloud struct {
	// The URL of the API with its version; empty for Hetzner's own.
	Endpoint string
	// The token of the project; empty: the one in the rendered tree.
	Token secret.String
	// Whether the project is simulated: a simulator has a token of its own, which
	// need not be the one in the tree.
	Simulated bool
	// Whether its nodes are simulated while time is real: nobody waits half a minute for
	// what they do at once. A rehearsal takes the time of real ones.
	Hurried bool
	// Public keys whose private half everybody has, besides that of the key
	// that talosgen ships: a tree that they can read is for a simulator only.
	Examples []string
	// Makes the connections to the API.
	HTTP http.RoundTripper
	// Where sessions that run at once keep the rate limits of their projects, of which
	// they may have the same; nil: it shares none.
	Budgets *sync.Map
	// Whether the session only looks: what may change something is refused before it is
	// sent, and this machine is not let in where nobody is.
	ReadOnly bool
	// Makes images that are missing.
	Builder Builder
	// How Hetzner Robot is reached, where dedicated servers are. Without a login the one
	// in the rendered tree is taken; the connections are those of HTTP.
	Robot robot.Account
	// How nodes are reached.
	Nodes Nodes
	// The time of this machine, and waiting.
	Clock cloud.Clock
	// Compares the tree with what it was in a commit that Flux has applied; nil:
	// they are not compared.
	Same SameTree
	// What tells whether the tree is older than the one that was applied last; nil:
	// that is neither looked at nor recorded.
	History *History
	// A number from 0 to 1 by chance.
	Rand func() float64
	// Is told about every request, in one line; may be nil.
	Log func(string)
	// Is told how a run goes on; may be nil. Log and Notify are called by several
	// goroutines at once.
	Notify func(progress.Event)
}

// Session is an environment together with the project that it is to be in.
// Close it.
type Session struct {
	env      *Environment
	project  *cloud.Client // nil for machines that exist already
	examples []string      // public keys of examples; see [Cloud]
	hurried  bool          // see [Cloud]
	log      *runLog
	lock     *locker
	record   treeRecord
	commit   string // of the tree; empty if it is in none as it is

	installs
	cloud    *cloudStage
	nodes    *nodeStage
	kube     *kubeStage
	verifier verifier

	connect  *connector
	objects  *treeObjects
	removal  *removalStage
	anew     *recreateStage
	images   *imageBuilder
	sweeper  *sweeper
	backups  *backups
	recovery *recovery // nil: there is none
}

// Plan looks at the project and at the nodes, and says what has to be done. The
// nodes that the policy names must be in the tree or in the project.
func (s *Session) Plan(ctx context.Context, policy Policy) (*Plan, error) {
	return s.plan(ctx, policy.Consent, func(st stage, p *Plan) error { return st.plan(ctx, p, policy) })
}

// Resume looks again, and makes a saved plan a plan again, with more consent
// than it was made with. If something that it reads or writes is not any more as
// it was, the error has the exit code [diag.Conflict].
func (s *Session) Resume(ctx context.Context, saved *Saved, more Policy) (*Plan, error) {
	consent := saved.Policy.And(more.Consent)
	return s.plan(ctx, consent, func(st stage, p *Plan) error { return st.resume(ctx, p, saved, more) })
}

// plan goes through the stages, each of which adds its section. A tree that is
// older than what was applied ends it, as soon as that is known.
func (s *Session) plan(ctx context.Context, consent plan.Consent, add func(stage, *Plan) error) (*Plan, error) {
	p := &Plan{older: agreesToOlder(consent)}
	for i, st := range []stage{s.cloud, s.nodes, s.kube} {
		if err := add(st, p); err != nil {
			return nil, err
		}
		if refused, err := s.record.judge(ctx, Stages()[i], p); err != nil || refused {
			return &Plan{Plan: p.Plan}, err
		}
	}
	return p, nil
}

// PlanDestroy looks at the project, and says what has to be done to remove
// everything that belongs to the cluster.
func (s *Session) PlanDestroy(ctx context.Context, policy Policy) (*Plan, error) {
	p, err := s.cloud.destroy(ctx, policy)
	return &Plan{Plan: p}, err
}

// AgreedToDestroy is a plan of [Session.PlanDestroy], from the same observation,
// after somebody agreed to more.
func (p *Plan) AgreedToDestroy(policy Policy) (*Plan, error) {
	again, err := cloudplan.Destroy(p.Desired, p.Observed, policy.Consent)
	return &Plan{Plan: again}, err
}

// Requests returns how many requests the session has made, and how many are
// left in the project before the rate limit holds them up; -1 if that is not
// known.
func (s *Session) Requests() (made, left int) { return s.log.hetzner() }

// Close takes away what let this machine in, also after an interrupt.
func (s *Session) Close(ctx context.Context) error { return s.connect.reach.close(ctx) }

// Holder returns who holds the lock of the cluster, or held it and did not
// release it; nil if it is free.
func (s *Session) Holder(ctx context.Context) (h *cloud.Holder, err error) {
	return s.lock.place.holder(ctx)
}

// Unlock takes the lock of the cluster from a run that is dead. It returns who
// held it; nil if it was free.
func (s *Session) Unlock(ctx context.Context) (*cloud.Holder, error) { return s.lock.place.unlock(ctx) }
