package apply

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/node/reach"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/internal/progress"
	"github.com/talosgen/talosgen/apply/internal/summary"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

type (
	// Cost is the price of a month.
	Cost = cloudplan.Cost
	// Event is a piece of news of a run.
	Event = progress.Event
	// State is how far a stage or a step of a run is.
	State = progress.State
)

// The states of an [Event].
const (
	Begun  = progress.Begun
	Note   = progress.Note
	Done   = progress.Done
	Failed = progress.Failed
	Waited = progress.Waited
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
	// Public keys whose private half everybody has, besides that of the key
	// that talosgen ships: a tree that they can read is for a simulator only.
	Examples []string
	// Makes the connections to the API.
	HTTP http.RoundTripper
	// Makes images that are missing.
	Builder Builder
	// How nodes are reached.
	Nodes Nodes
	// The time of this machine, and waiting.
	Clock Clock
	// Compares the tree with what it was in a commit that Flux has applied; nil:
	// they are not compared.
	Same SameTree
	// What tells whether the tree is older than the one that was applied last; nil:
	// that is neither looked at nor recorded.
	History *History
	// A number from 0 to 1 by chance.
	Chance func() float64
	// Is told about every request, in one line; may be nil.
	Log func(string)
	// Is told how a run goes on; may be nil. Log and Tell are called by several
	// goroutines at once.
	Tell func(Event)
}

// Clock is the passing of time.
type Clock = cloud.Clock

// Session is an environment together with the project that it is to be in.
// Close it.
type Session struct {
	env      *Environment
	project  *cloud.Client // nil for machines that exist already
	builder  Builder
	nodes    Nodes
	clock    Clock
	tell     progress.Sink
	examples []string // public keys of examples; see [Cloud]
	local    bool     // the endpoint is on this machine: a simulator
	same     SameTree
	history  *History
	recorded bool // which tree is applied, of machines that exist already
	parallel int  // how many changes are made at once
	stages   []StageTime
	lock     lock // while it is held
	changing bool // the run may change something, and waits for what it has disturbed
	// Who takes the lock as soon as there is a place for it.
	leaseOwner Owner

	desired *nodeplan.Desired // decrypted
	objects *kubeplan.Desired // decrypted
	jump    *reach.Jump       // the server that leads to nodes, once it is connected to
	plane   reach.Favourite   // the control plane whose Kubernetes API was reached last
	clients nodes.Clients     // for nodes that are reached that way
	access  *cloud.Session    // what lets whoever runs this in
	intents nodes.Intents
	records nodes.Records
	servers *serverRecords // the same, at Hetzner Cloud
	planned *nodes.Cluster // the nodes that the last plan was made from; nil: none
	// What tells the snapshot from others that a lost etcd is made from, once it
	// was read.
	snapshot string

	disturbed disturbed
	snapshots snapshotTimes
	// The token is not the one in the tree.
	otherToken bool

	calls struct{ nodes, kubernetes atomic.Int64 } // that were made

	signing sync.Mutex
	signed  struct {
		credentials node.Credentials
		renew       time.Time
	}
}

// brief makes news of images as short as plans do: they are for people.
func brief(tell func(Event)) func(Event) {
	if tell == nil {
		return nil
	}
	return func(e Event) {
		e.Step, e.Text = plan.Brief(e.Step), plan.Brief(e.Text)
		tell(e)
	}
}

// Connect finds the token, and makes no request yet. It refuses a tree that
// everybody can read unless the endpoint is on this machine.
func (e *Environment) Connect(ctx context.Context, c Cloud) (*Session, error) {
	if err := e.checkExample(c.Endpoint, c.Examples); err != nil {
		return nil, err
	}
	if err := e.withoutKeys(c); err != nil {
		return nil, err
	}
	if e.keyless {
		c.Nodes = Nodes{} // to look at them takes a certificate
	}
	s := &Session{
		env: e, examples: c.Examples, clock: c.Clock, tell: brief(c.Tell), builder: c.Builder, nodes: c.Nodes, local: OnLoopback(c.Endpoint),
		intents: &heldIntents{}, same: c.Same, history: c.History, parallel: parallel,
	}
	if s.same == nil {
		s.same = alwaysSame
	}
	if e.Infrastructure.Provider != schemas.Hetzner {
		file := c.Nodes.Facts
		if file == nil {
			file = &heldFacts{}
		}
		s.records = &machineRecords{file: file}
		return s, nil
	}
	if err := c.Builder.Mirrors.Check(e.Infrastructure.Images); err != nil {
		return nil, err
	}
	token := c.Token
	if token.IsZero() {
		var err error
		if token, err = e.Token(ctx); err != nil {
			return nil, err
		}
	}
	if token.IsZero() {
		return nil, diag.On("environment "+e.name, "there is no token of the Hetzner Cloud project").
			WithHint("set HCLOUD_TOKEN to a token that may read and write; the console makes one under Security, API tokens").
			WithCode(diag.Secrets)
	}
	if !c.Token.IsZero() && !c.Simulated {
		kept, err := e.Token(ctx)
		s.otherToken = err == nil && !kept.IsZero() && kept.Reveal() != token.Reveal()
	}
	e.masker.Add(token)
	options := cloud.Options{
		Endpoint: c.Endpoint, Token: token, HTTP: c.HTTP, Version: e.version, Clock: c.Clock, Chance: c.Chance,
	}
	if c.Log != nil {
		options.Log = func(r cloud.Request) { c.Log(r.String()) }
	}
	s.project = cloud.New(options)
	s.servers = newServerRecords(s.project.MarkConfigured)
	s.records = s.servers
	s.intents = &notedIntents{notes: s.project.Notes(e.Infrastructure.Cluster)}
	return s, nil
}

// Plan looks at the project and at the nodes, and says what has to be done. The
// nodes that the policy names must be in the tree or in the project.
func (s *Session) Plan(ctx context.Context, policy Policy) (*Plan, error) {
	p, err := s.plan(ctx, "observe", func(o cloudplan.Observed) (*cloudplan.Plan, error) {
		return cloudplan.Make(s.env.Infrastructure, o, policy.Consent)
	})
	if err != nil {
		return nil, err
	}
	known := s.names(p.Observed)
	if err := allKnown(slices.Concat(policy.Nodes, slices.Sorted(maps.Keys(s.nodes.Fingerprints))), known); err != nil {
		return nil, err
	}
	p.Warnings = append(p.Warnings, s.leftOpen(p.Observed)...)
	p.Warnings = append(p.Warnings, s.otherProject(p.Observed)...)
	if refused, err := s.withLineage(ctx, p, policy.Consent); err != nil || refused {
		return &Plan{Plan: p}, err
	}
	whole, err := s.withNodes(ctx, p, policy)
	if err != nil {
		return nil, err
	}
	whole.older = agreesToOlder(policy.Consent)
	whole.Refusals = append(whole.Refusals, ahead(whole, s.env.Infrastructure)...)
	if refused, err := s.withLineageOfMachines(ctx, whole); err != nil || refused {
		return &Plan{Plan: whole.Plan}, err
	}
	return whole, s.withKubernetes(ctx, whole, policy)
}

// PlanDestroy looks at the project, and says what has to be done to remove
// everything that belongs to the cluster.
func (s *Session) PlanDestroy(ctx context.Context, policy Policy) (*Plan, error) {
	p, err := s.plan(ctx, "observe", func(o cloudplan.Observed) (*cloudplan.Plan, error) {
		return cloudplan.Destroy(s.env.Infrastructure, o, policy.Consent)
	})
	if err == nil {
		p.Warnings = append(p.Warnings, s.otherProject(p.Observed)...)
	}
	return &Plan{Plan: p}, err
}

// Resume looks again, and makes a saved plan a plan again, with more consent
// than it was made with. If something that it reads or writes is not any more as
// it was, the error has the exit code [diag.Conflict].
func (s *Session) Resume(ctx context.Context, saved *Saved, more Policy) (*Plan, error) {
	p, err := s.plan(ctx, "observe", func(o cloudplan.Observed) (*cloudplan.Plan, error) {
		return saved.Resume(s.env.Infrastructure, o, more.Consent)
	})
	if err != nil {
		return nil, err
	}
	consent := saved.Policy.And(more.Consent)
	if refused, err := s.withLineage(ctx, p, consent); err != nil || refused {
		return &Plan{Plan: p}, err
	}
	whole, err := s.resumeNodes(ctx, &Plan{Plan: p}, saved, more)
	if err != nil {
		return nil, err
	}
	whole.older = agreesToOlder(consent)
	whole.Refusals = append(whole.Refusals, ahead(whole, s.env.Infrastructure)...)
	if refused, err := s.withLineageOfMachines(ctx, whole); err != nil || refused {
		return &Plan{Plan: whole.Plan}, err
	}
	return whole, s.resumeKubernetes(ctx, whole, saved, more)
}

// plan observes and plans, as a stage of the run.
func (s *Session) plan(ctx context.Context, stage string, make func(cloudplan.Observed) (*cloudplan.Plan, error)) (p *cloudplan.Plan, err error) {
	err = s.stage(stage, 0, func(progress.Stage) error {
		var observed cloudplan.Observed
		if s.project != nil {
			if observed, err = s.project.ObserveSettled(ctx, s.env.Infrastructure); err != nil {
				return err
			}
		}
		p, err = make(observed)
		return err
	})
	return p, err
}

// stage runs a stage, tells of it and notes the time that it took.
func (s *Session) stage(name string, steps int, do func(progress.Stage) error) error {
	begin, before := s.clock.Now(), s.requests()
	stage := progress.Begin(s.tell, name, steps)
	err := stage.End(do(stage))
	took := s.clock.Now().Sub(begin)
	s.stages = append(s.stages, StageTime{Stage: name, Took: took, Seconds: took.Seconds(), Requests: s.requests().Minus(before)})
	return err
}

// requests are all that the session has made.
func (s *Session) requests() summary.Requests {
	made, _ := s.Requests()
	return summary.Requests{Hetzner: made, Nodes: int(s.calls.nodes.Load()), Kubernetes: int(s.calls.kubernetes.Load())}
}

// Requests returns how many requests the session has made, and how many are
// left in the project before the rate limit holds them up; -1 if that is not
// known.
func (s *Session) Requests() (made, left int) {
	if s.project == nil {
		return 0, -1
	}
	stats := s.project.Stats()
	return stats.Requests, stats.Remaining
}
