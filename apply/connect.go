package apply

import (
	"context"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/internal/readonly"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

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
	if c.ReadOnly {
		c.HTTP, c.Nodes.Own = readonly.Transport{Next: c.HTTP}, nil
	}
	if e.Infrastructure.Provider != schemas.Hetzner {
		return newSession(e, nil, c), nil
	}
	if err := c.Builder.Mirrors.Check(e.Infrastructure.Images); err != nil {
		return nil, err
	}
	token, other, err := e.chooseToken(ctx, c)
	if err != nil {
		return nil, err
	}
	e.masker.Add(token)
	options := cloud.Options{
		Endpoint: c.Endpoint, Token: token, HTTP: c.HTTP, Version: e.version, Clock: c.Clock, Rand: c.Rand, Budgets: c.Budgets,
	}
	if c.Log != nil {
		options.Log = func(r cloud.Request) { c.Log(r.String()) }
	}
	s := newSession(e, cloud.New(options), c)
	s.cloud.otherToken = other
	return s, nil
}

// chooseToken is the token of the project, and whether it is another one than that
// in the tree.
func (e *Environment) chooseToken(ctx context.Context, c Cloud) (token secret.String, other bool, err error) {
	if token = c.Token; token.IsZero() {
		if token, err = e.Token(ctx); err != nil {
			return token, false, err
		}
	}
	if token.IsZero() {
		return token, false, diag.On("environment "+e.name, "there is no token of the Hetzner Cloud project").
			WithHint("set HCLOUD_TOKEN to a token that may read and write; the console makes one under Security, API tokens").
			WithCode(diag.Secrets)
	}
	if !c.Token.IsZero() && !c.Simulated {
		kept, err := e.Token(ctx)
		other = err == nil && !kept.IsZero() && kept.Reveal() != token.Reveal()
	}
	return token, other, nil
}

// newSession puts together what a session consists of: what leads to nodes and to
// Kubernetes, what keeps others out, and on top of these the stages.
func newSession(e *Environment, project *cloud.Client, c Cloud) *Session {
	infra, held := &e.Infrastructure, &heldLock{}
	log := &runLog{clock: c.Clock, notify: shorten(c.Notify), project: project}
	keep := memoryOf(e, project, c.Nodes)
	inv := &inventory{infra: infra, endpoints: c.Nodes.Endpoints, fingerprints: c.Nodes.Fingerprints, calls: &log.calls.nodes, labels: keep.labels, readOnly: c.ReadOnly}
	open := &sessionAccess{infra: infra, project: project, own: c.Nodes.Own, run: c.Nodes.Owner.in(infra.Cluster), held: held}
	way := &nodeReach{infra: infra, inventory: inv, dial: c.Nodes.Dial, signers: c.Nodes.Signers, open: open}
	sign := &signer{env: e, clock: c.Clock, random: c.Builder.Random}
	kube := &kubeReach{
		infra: infra, bare: reach.OnLoopback(c.Endpoint) && !c.Nodes.Kubernetes, inventory: inv, nodes: way, signer: sign,
		clock: c.Clock, held: held, calls: &log.calls.kubernetes, readOnly: c.ReadOnly,
	}
	lock := &locker{env: e.Name(), place: lockPlaceOf(e, project, open, kube, c.Clock), held: held, log: log}
	s := &Session{
		env: e, project: project, examples: c.Examples, hurried: c.Hurried, log: log, lock: lock, record: recordOf(e, project, c.History, kube, lock, log),
		objects: &treeObjects{env: e}, backups: &backups{env: e, clock: c.Clock, files: c.Nodes.Keep},
		images:  &imageBuilder{project: project, infra: infra, with: c.Builder, version: e.version, clock: c.Clock},
		sweeper: &sweeper{project: project, cluster: infra.Cluster, inventory: inv, log: log, lock: lock},
	}
	s.connect = &connector{
		env: e, project: project, inventory: inv, reach: way, kube: kube, signer: sign, clock: c.Clock, log: log, lock: lock,
		records: keep.records, intents: keep.intents, snapshot: s.backups.save,
		disks: treeDisks{e, c.Simulated},
	}
	if c.Nodes.Recovery != nil {
		s.recovery = &recovery{env: e, from: *c.Nodes.Recovery}
		s.connect.recovery = s.recovery
	}
	if c.History != nil {
		s.commit = c.History.Commit
	}
	addStages(s, inv, open, kube, c)
	return s
}

// addStages puts together the stages of a session.
func addStages(s *Session, inv *inventory, open *sessionAccess, kube *kubeReach, c Cloud) {
	moved := &disturbed{}
	s.cloud = &cloudStage{
		env: s.env, project: s.project, inventory: inv, open: open, images: s.images, record: s.record,
		watch: &nodeWatch{connect: s.connect, disturbed: moved}, clock: c.Clock, log: s.log, parallel: parallel,
	}
	s.nodes = &nodeStage{connect: s.connect, desired: &treeNodes{env: s.env, inventory: inv}, disturbed: moved, log: s.log, makers: &makers{connect: s.connect}}
	s.kube = &kubeStage{kube: kube, objects: s.objects, clock: c.Clock, log: s.log, lock: s.lock, record: s.record, nodes: s.nodes}
	s.verifier = verifier{env: s.env, connect: s.connect, kube: kube, objects: s.objects, log: s.log, same: c.Same}
	if c.Same == nil {
		s.verifier.same = alwaysSame
	}
	s.removal = &removalStage{nodes: s.nodes, cloud: s.cloud, log: s.log}
	account := c.Robot
	account.HTTP, account.Clock, account.Log = c.HTTP, c.Clock, c.Log
	s.installs = installs{newRobotStage(s.nodes, s.lock, c.Builder, account)}
	s.anew = &recreateStage{removal: s.removal, cloud: s.cloud, nodes: s.nodes, log: s.log}
}

// lockPlaceOf is where the lock of a cluster is.
func lockPlaceOf(e *Environment, project *cloud.Client, open *sessionAccess, kube *kubeReach, clock cloud.Clock) lockPlace {
	cluster := e.Infrastructure.Cluster
	if project == nil {
		return leaseLock{env: e.name, cluster: cluster, kube: kube, clock: clock}
	}
	return projectLock{project: project, cluster: cluster, open: open}
}

// recordOf is where it is kept which tree was applied last.
func recordOf(e *Environment, project *cloud.Client, h *History, kube *kubeReach, lock *locker, log *runLog) treeRecord {
	tree := presentTree{env: e, history: h}
	switch {
	case h == nil:
		return noRecord{}
	case project == nil:
		return &clusterRecord{presentTree: tree, kube: kube, lock: lock, log: log}
	}
	return labelledRecord{presentTree: tree, project: project}
}

// memory is what is remembered of nodes from run to run.
type memory struct {
	records nodes.Records
	intents nodes.Intents
	labels  *serverRecords // the records, at Hetzner Cloud
}

// memoryOf is the project, and a file for machines that exist already.
func memoryOf(e *Environment, project *cloud.Client, n Nodes) memory {
	file := n.Facts
	if file == nil {
		file = &memoryFacts{}
	}
	machines := &machineRecords{file: file}
	if project == nil {
		return memory{records: machines, intents: &memoryIntents{}}
	}
	labels := newServerRecords(project.MarkConfigured)
	return memory{records: splitRecords{servers: labels, machines: machines}, intents: &notedIntents{notes: project.Notes(e.Infrastructure.Cluster)}, labels: labels}
}

// shorten makes news of images as short as plans do: they are for people.
func shorten(notify func(progress.Event)) func(progress.Event) {
	if notify == nil {
		return nil
	}
	return func(e progress.Event) {
		e.Step, e.Text = plan.Brief(e.Step), plan.Brief(e.Text)
		notify(e)
	}
}
