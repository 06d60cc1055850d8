package nodes

import (
	"cmp"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/etcdsafety"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sorting"
)

// Make plans. An error means that configurations cannot be compared; what must
// not be done is in Refusals.
func Make(desired Desired, observed Observed, policy Policy) (*Plan, error) {
	return makePlan(desired, observed, policy, "the tree does not have it")
}

// makePlan also takes the reason for which nodes go that are not desired.
func makePlan(desired Desired, observed Observed, policy Policy, gone string) (*Plan, error) {
	m := &planner{gone: gone, desired: desired, observed: observed, policy: policy, members: observed.Safe(), trusts: map[rotation.Kind][]rotation.Node{},
		plan: &Plan{Cluster: desired.Cluster, Steps: []Step{}, Reads: observed.digests(), send: map[string]secret.String{}}}
	m.policy.Mode, m.policy.MaxParallel = cmp.Or(policy.Mode, Auto), max(policy.MaxParallel, 1)
	m.workers = make([]plan.Key, m.policy.MaxParallel)
	m.desired.Nodes = slices.Clone(desired.Nodes)
	sorting.By(m.desired.Nodes, func(a, b Want) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), natural.Compare(a.Name, b.Name)) // control planes first
	})
	m.plan.Recreate = OnlyNew(desired, observed, policy)
	leave := policy.recreates(m.plan.Recreate)
	var problems diag.List
	for _, phase := range []func(Want, Node) error{m.harmless, m.join, m.bootstrap, m.disturbing} {
		for _, want := range m.desired.Nodes {
			if !policy.concerns(want.Name) || slices.Contains(leave, want.Name) {
				continue
			}
			problems.AddErr(phase(want, m.observed.node(want.Name)))
		}
	}
	m.removals()
	autoscaled{m}.unread()
	m.plan.Upgrade = pending(m.desired, m.observed)
	m.plan.Voters, _ = etcdsafety.Count(observed.Safe())
	return m.plan, problems.Err()
}

// planner makes one plan.
type planner struct {
	desired  Desired
	observed Observed
	policy   Policy
	plan     *Plan
	// Why nodes go that are not desired.
	gone string
	// The members of etcd as the steps so far leave them.
	members []etcdsafety.Member
	// The last step of what may happen one after the other only: to control
	// planes, and to each of as many workers as may be away at once.
	controlPlanes plan.Key
	workers       []plan.Key
	next          int // of workers

	configured []plan.Key // steps that configure control planes of a new cluster
	begun      bool       // bootstrap is planned
	rewritten  plan.Key   // the step that writes all Secrets again; empty: none is planned

	trusts map[rotation.Kind][]rotation.Node // of the kinds that somebody has asked for
}

func key(action Action, node string) plan.Key { return plan.Key(string(action) + "/" + node) }

// step adds a step after others.
func (m *planner) step(action Action, node, reason string, needs ...plan.Key) *Step {
	s := Step{Key: key(action, node), Action: action, Node: node, Role: m.role(node), Reason: reason, Allowed: true}
	for _, k := range needs {
		if k != "" && !slices.Contains(s.Needs, k) {
			s.Needs = append(s.Needs, k)
		}
	}
	m.plan.Steps = append(m.plan.Steps, s)
	return &m.plan.Steps[len(m.plan.Steps)-1]
}

func (m *planner) refuse(node, text, hint string) {
	m.plan.Refusals = append(m.plan.Refusals, plan.Note{Key: plan.Key("node/" + node), Text: text, Hint: hint})
}

func (m *planner) warn(node, text, hint string) {
	m.plan.Warnings = append(m.plan.Warnings, plan.Note{Key: plan.Key("node/" + node), Text: text, Hint: hint})
}

// compare compares the configuration of a living node, once.
func (m *planner) compare(want Want, node Node) (*nodeconfig.Difference, error) {
	if node.Reach != Configured || node.Stage != StageRunning || node.Role != want.Role {
		return &nodeconfig.Difference{}, nil
	}
	running := m.observed.Running
	running.Node = node.Talos
	d, err := nodeconfig.Compare(node.Config, want.Config, running)
	if err == nil && want.Autoscaled {
		d = settings(d)
	}
	return d, err
}

// harmless plans what disturbs nobody, for all nodes at once, and says what
// cannot be done.
func (m *planner) harmless(want Want, node Node) error {
	if want.Autoscaled && !(autoscaled{m}).follows(want, node) {
		return nil
	}
	if node.Reach != Maintenance && (node.Reach != Configured || node.Stage != StageRunning) {
		m.plan.Unreachable = append(m.plan.Unreachable, want.Name)
	}
	if !m.usable(want, node) {
		return nil
	}
	d, err := m.compare(want, node)
	if err != nil {
		return err
	}
	for _, c := range d.Held {
		m.plan.Held = append(m.plan.Held, Held{Node: want.Name, Change: c})
	}
	class := d.Class()
	waits := rotating{m}.waits(want, node)
	switch {
	case class == nodeconfig.Refused:
		m.refuseChanges(want, d)
	case class != "" && waits != nil:
		waits.refuse(m, want.Name)
	case class == "":
	case m.policy.Mode == Staged && forgetsKey(want, node):
		m.refuse(want.Name, "it is to lose a key that Secrets may be stored with", "apply without --mode staged: all Secrets are written again before the key goes")
	case m.policy.Mode == Staged:
		m.configure(Stage, want, d)
	case class == nodeconfig.NoReboot:
		m.configure(Configure, want, d, certifiers(m.plan, want, d)...)
	case class == nodeconfig.Reboot && m.policy.Mode == NoReboot:
		m.warn(want.Name, "its change needs a reboot, and is left", "apply without --mode no-reboot, or with --mode staged")
	}
	return nil
}

func (m *planner) configure(action Action, want Want, d *nodeconfig.Difference, needs ...plan.Key) plan.Key {
	s := m.step(action, want.Name, "", needs...)
	s.Changes = d.Changes
	m.plan.send[want.Name] = d.Send
	return s.Key
}

// usable says what keeps a node from being planned for.
func (m *planner) usable(want Want, node Node) bool {
	switch {
	case node.Reach == Foreign:
		m.refuse(want.Name, "another machine, or a node of another cluster, answers"+because(node), "check its address; to take the machine over, reset it first")
	case node.Reach == Unproven:
		m.refuse(want.Name, "it does not prove that it is the node: "+node.Reason, UnprovenHint+string(plan.Key("node/"+want.Name)))
	case node.Reach == Unfit:
		m.refuse(want.Name, node.Reason, UnfitHint)
	case node.Reach == Unreachable || node.Reach == "":
		m.warn(want.Name, "it is not reached"+because(node)+": its configuration is not compared", node.KubeReport.hint())
	case node.Reach == Configured && node.Role != want.Role:
		m.refuse(want.Name, "it is a "+node.Role+", and should be a "+want.Role, "a node does not change its role: remove it, and add it again")
	case node.Reach == Configured && node.Stage != StageRunning && m.learns(node.Name):
		m.warn(want.Name, "it is "+node.Stage+", and its etcd has no vote yet",
			"apply again when it runs; if it rebooted before it had its vote, Talos never gives it one: replace it then (talosgen replace)")
	case node.Reach == Configured && node.Stage != StageRunning:
		m.warn(want.Name, "it is "+node.Stage+", and is left", "apply again when it runs")
	default:
		return true
	}
	return false
}

// learns reports whether the etcd of a node has no vote yet.
func (m *planner) learns(name string) bool {
	return slices.ContainsFunc(m.observed.Members, func(e Member) bool { return e.Node == name && e.Learner })
}

func (m *planner) refuseChanges(want Want, d *nodeconfig.Difference) {
	for _, c := range d.Changes {
		if c.Class == nodeconfig.Refused {
			m.refuse(want.Name, c.String()+": "+c.Reason, "undo the change in Git, or do it by hand as Talos' documentation says")
		}
	}
}

// join plans new nodes: at once where there is no cluster yet; else control
// planes one after the other, each with its vote before the next.
func (m *planner) join(want Want, node Node) error {
	if node.Reach != Maintenance || want.Autoscaled {
		return nil
	}
	if reason := m.mayJoin(want); reason != "" {
		m.refuse(want.Name, "it must not join: "+reason, "bring the other control planes back first")
		return nil
	}
	send, held, err := nodeconfig.Pin(want.Config, m.observed.Running)
	if err != nil {
		return err
	}
	m.plan.send[want.Name] = send
	for _, c := range held {
		m.plan.Held = append(m.plan.Held, Held{Node: want.Name, Change: c})
	}
	reason := cmp.Or(newBecause[node.Proof], "it is new")
	switch {
	case want.Role != ControlPlane:
		m.step(Configure, want.Name, reason)
	case len(m.observed.Members) == 0:
		m.configured = append(m.configured, m.step(Configure, want.Name, reason).Key)
	default:
		m.step(Configure, want.Name, reason, m.health())
		m.controlPlanes = m.step(Join, want.Name, "", key(Configure, want.Name)).Key
		m.members = append(etcdsafety.Without(m.members, want.Name), etcdsafety.Member{Node: want.Name, Voter: true, Healthy: true})
	}
	return nil
}

// newBecause says why a machine is taken for a new one, where that needs a word.
var newBecause = map[newonce.Proof]string{
	newonce.Resumed:   "it has not got the configuration that was about to be sent to it",
	newonce.Pinned:    "it shows the key that was named",
	newonce.Consented: "the operator agreed to take it for a new one",
}

// mayJoin says why a control plane must not join a cluster that there may be.
func (m *planner) mayJoin(want Want) string {
	lives := slices.ContainsFunc(m.observed.Nodes, func(n Node) bool { return n.Role == ControlPlane && n.Reach == Configured })
	voters, healthy := etcdsafety.Count(m.members)
	switch {
	case want.Role != ControlPlane:
	case !m.observed.Known && lives:
		return "the state of etcd is unknown"
	case voters > 0 && healthy < etcdsafety.Quorum(voters):
		return "etcd has lost its quorum"
	}
	return ""
}

// bootstrap plans to bootstrap once new control planes are configured, if there
// may be no etcd. Whether there is none is decided when it is done.
func (m *planner) bootstrap(Want, Node) error {
	if !m.begun && m.observed.Unrecorded {
		m.begun = true
		m.step(Record, Etcd, "it serves: it is not bootstrapped again")
		return nil
	}
	if m.begun || len(m.configured) == 0 && !m.noEtcd() {
		return nil
	}
	m.begun = true
	m.controlPlanes = m.step(Bootstrap, Etcd, "if every control plane says that it has no etcd", m.configured...).Key
	return nil
}

// noEtcd reports whether configured control planes wait to be bootstrapped.
func (m *planner) noEtcd() bool {
	return m.observed.Known && len(m.observed.Members) == 0 && slices.ContainsFunc(m.desired.Nodes, func(w Want) bool {
		return w.Role == ControlPlane && m.observed.node(w.Name).Reach == Configured
	})
}

// health is the step that the next step that disturbs control planes has to wait
// for.
func (m *planner) health() plan.Key {
	if m.controlPlanes == "" {
		m.controlPlanes = m.step(Health, WholeCluster, "before anything is disturbed").Key
	}
	return m.controlPlanes
}
