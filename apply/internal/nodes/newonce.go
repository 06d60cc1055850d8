package nodes

import (
	"context"
	"slices"
	"sync"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
)

// Records is where talosgen keeps, of each machine, whether it was ever
// configured. It may be used by several goroutines at once.
type Records interface {
	// Of returns the record of a machine.
	Of(m Machine) newonce.Record
	// Sending records that a configuration is about to be sent to a machine, which
	// showed the key with a fingerprint. Nothing is sent if it fails.
	Sending(ctx context.Context, m Machine, fingerprint string) error
	// Arrived records that machines have proven to be nodes of the cluster.
	Arrived(ctx context.Context, machines ...Machine) error
	// Forgotten records that a machine has forgotten that it was a node.
	Forgotten(ctx context.Context, m Machine) error
}

// admitted are the machines that may be configured, by what the last look at all
// of them said.
type admitted struct {
	mu  sync.Mutex
	now map[string]newonce.Decision
}

func (a *admitted) set(now map[string]newonce.Decision) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now = now
}

// take returns why a machine may be configured, once: then another look is
// needed.
func (a *admitted) take(name string) (newonce.Decision, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d, ok := a.now[name]
	delete(a.now, name)
	return d, ok
}

// Allow takes the machines of some nodes for new ones, whatever is recorded:
// somebody has named them.
func (c *Cluster) Allow(names ...string) {
	for i := range c.Machines {
		if slices.Contains(names, c.Machines[i].Name) {
			c.Machines[i].Consent.Allowed = true
		}
	}
}

// recorded is what talosgen has recorded of a machine.
func recorded(r Records, m Machine) newonce.Record {
	if r == nil {
		return newonce.Record{State: newonce.Unreadable, Reason: "no records are kept"}
	}
	return r.Of(m)
}

// elsewhere reports whether a machine is somewhere else before it is configured.
func (m Machine) elsewhere() bool { return m.BootAddress != "" && m.BootAddress != m.Address }

// newcomers decides which machines are new, of those that have not proven to be
// nodes.
type newcomers struct {
	records Records
	through reach.Transport
	disks   InstallDisks
	kube    kubeAnswer // in the last look at all nodes
}

func (c *Cluster) newcomers() newcomers {
	return newcomers{records: c.Records, through: c.Through, disks: c.Disks, kube: c.kube}
}

// known is what a cluster that runs says of its nodes.
type known struct {
	serves  bool // its etcd does
	members []nodeplan.Member
	listed  bool // the members are known
	asked   bool // Kubernetes has answered
	nodes   []kube.Node
}

// providerPrefix is how the cloud controller manager begins the ids of servers.
const providerPrefix = "hcloud://"

// input is what is known of a machine that has not proven to be a node.
func (n newcomers) input(s NodeState, k known) newonce.Input {
	m := s.Machine
	in := newonce.Input{Record: recorded(n.records, m), Answer: s.answer, BootsElsewhere: m.elsewhere(), Pin: m.Match.Fingerprint, Consent: m.Consent}
	if !k.serves {
		return in
	}
	if k.listed {
		in.Etcd = newonce.Stranger
		if slices.ContainsFunc(k.members, func(e nodeplan.Member) bool { return e.Node == m.Name }) {
			in.Etcd = newonce.Named
		}
	}
	if k.asked {
		in.Kubernetes = newonce.Stranger
	}
	for _, known := range k.nodes {
		switch {
		case m.ID != "" && known.ProviderID == providerPrefix+m.ID:
			in.Kubernetes = newonce.Same
		case known.Name == m.Name && in.Kubernetes != newonce.Same:
			in.Kubernetes = newonce.Named
		}
	}
	return in
}

// meet asks machines that have not proven to be nodes whether they wait in
// maintenance mode, if they may be new. All others are refused, or not reached.
// It returns which of them may be configured, and why.
func (n newcomers) meet(ctx context.Context, states []NodeState) (map[string]newonce.Decision, error) {
	k := n.heard(states)
	decisions := make([]newonce.Decision, len(states))
	slots := make(chan struct{}, observing)
	var all sync.WaitGroup
	for i, s := range states {
		if s.Reach == nodeplan.Configured || s.Machine.New || s.Machine.Address == "" || s.Machine.Group != "" || s.behind {
			continue
		}
		in := n.input(s, k)
		decisions[i] = newonce.Decide(in)
		switch d := decisions[i]; {
		case d.Verdict == newonce.Refused:
			states[i].Reach, states[i].Reason = nodeplan.Unproven, d.Reason+", and "+s.Reason
		case d.Verdict == newonce.Undecided && in.Record.State != newonce.Blank:
			states[i].Reason = d.Reason
		case d.Verdict == newonce.New || d.Verdict == newonce.Undecided:
			slots <- struct{}{}
			all.Go(func() {
				defer func() { <-slots }()
				ctx, cancel := context.WithTimeout(ctx, observeWithin)
				defer cancel()
				if states[i] = n.probeMaintenance(ctx, s, d); states[i].lost && ctx.Err() == nil {
					states[i] = n.probeMaintenance(ctx, s, d)
				}
			})
		}
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, execute.Interrupted(ctx)
	}
	return n.admissions(states, k, decisions), nil
}

// admissions are the machines in maintenance mode that may be configured. Those of
// which no record speaks, while nobody could be asked, are new if there is no
// cluster yet. Else they are not reached.
func (n newcomers) admissions(states []NodeState, k known, decisions []newonce.Decision) map[string]newonce.Decision {
	noRecord := !k.serves && !slices.ContainsFunc(states, func(s NodeState) bool {
		return s.Machine.controlPlane() && !s.Reach.Bare() && s.Etcd.State != bootstrap.Empty
	})
	may := map[string]newonce.Decision{}
	for i := range states {
		s, d := &states[i], decisions[i]
		if !s.Reach.Bare() || s.Machine.New {
			continue
		}
		if d.Verdict == newonce.Undecided && noRecord {
			in := n.input(*s, k)
			in.Kubernetes, in.Etcd = newonce.NoCluster, newonce.NoCluster
			d = newonce.Decide(in)
		}
		switch {
		case d.Verdict != newonce.New:
			s.Reach, s.Reason = nodeplan.Unreachable, "it waits in maintenance mode, and "+d.Reason
		case s.Reach == nodeplan.Maintenance:
			s.Proof, may[s.Machine.Name] = d.Proof, d
		}
	}
	return may
}

// heard is what a cluster that runs says in a look at some of its nodes, and what
// Kubernetes said in the last look at all.
func (n newcomers) heard(states []NodeState) (k known) {
	if k.serves = len(serving(states)) > 0; !k.serves {
		return k
	}
	k.members, k.listed = members(states)
	k.nodes, k.asked = n.kube.nodes, n.kube.known && n.kube.err == nil
	return k
}

// probeMaintenance looks whether a machine that may be new is in maintenance mode.
func (n newcomers) probeMaintenance(ctx context.Context, s NodeState, d newonce.Decision) NodeState {
	client, err := node.Maintenance(s.Machine.boot(), n.through, d.Pin)
	if err != nil {
		s.Reason = problem(err)
		return s
	}
	defer client.Close()
	status, err := client.Status(ctx)
	s.lost = node.LostAnswer(err)
	switch {
	case err == nil && status.Stage == node.StageMaintenance:
		s.Reach, s.Reason = identified(n.disks.identify(ctx, client, s.Machine))
		s.Proof = d.Proof
	case node.WantsCertificate(err) && s.answer == newonce.Other:
		s.Reach = nodeplan.Foreign
	case node.OtherKey(err):
		s.Reach, s.Reason = nodeplan.Unproven, otherKey[d.Proof]+": "+problem(err)
	case err == nil:
		s.Reason = "it answers without a certificate, and is " + status.Stage
	case s.Machine.boot() == s.Machine.target():
		s.Reason = problem(err)
	}
	return s
}

// otherKey says what it means that a machine shows another key than it has to.
var otherKey = map[newonce.Proof]string{
	newonce.Recorded:  "it has not the key that the tree names",
	newonce.Consented: "it has not the key that the tree names",
	newonce.Pinned:    "it has not the key that was named",
	newonce.Resumed:   "it has not the key of the machine that its configuration was sent to",
}

// admit returns why a machine may be configured. It is asked once for each look.
func (c *Cluster) admit(name string) (newonce.Decision, error) {
	d, ok := c.admitted.take(name)
	if !ok {
		return d, diag.On("node "+name, "it has not proven to be new").
			WithHint("apply again: it is looked at before anything is sent").WithCode(diag.Conflict)
	}
	return d, nil
}

// Arrived records of all machines that have proven to be nodes that they were
// configured: a run may have ended before it could, or an older talosgen made
// them. What could not be read is left as it is. With existing, it is of machines that
// exist already alone.
func (c *Cluster) Arrived(ctx context.Context, existing bool) error {
	var arrived []Machine
	for _, m := range c.Machines {
		state := recorded(c.Records, m).State
		if c.proven[m.Name] && (m.Exists || !existing) && m.Group == "" && state != newonce.Sent && state != newonce.Unreadable {
			arrived = append(arrived, m)
		}
	}
	if len(arrived) == 0 {
		return nil
	}
	if err := c.keep(ctx); err != nil {
		return err
	}
	return c.Records.Arrived(ctx, arrived...)
}
