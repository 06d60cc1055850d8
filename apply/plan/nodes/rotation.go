package nodes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/rotation"
)

// early is a phase of a rotation that a node must not get yet, and why.
type early struct {
	kind rotation.Kind
	why  string
	hint string
}

// rotating plans for rotations.
type rotating struct{ *planner }

// waits says why a node must not get the authorities of Git yet: others
// would not trust it, or it not them. New nodes get what Git has, and are trusted.
func (m rotating) waits(want Want, node Node) *early {
	if node.Reach != Configured || node.Config == nil || want.Config == nil {
		return nil
	}
	for _, kind := range rotation.Kinds() {
		has, wants := node.Config.Trust(kind), want.Config.Trust(kind)
		if has.Equal(wants) {
			continue // as nearly always: the others are not looked at
		}
		if _, known := m.trusts[kind]; !known {
			m.trusts[kind] = trustsOf(kind, m.desired.Nodes, m.observed)
		}
		if why, of := rotation.Awaited(kind, has, wants, m.trusts[kind]); why != "" {
			return &early{kind, why, cmp.Or(of.Hint, phaseBefore(kind))}
		}
		if why := m.learnsFromAll(kind, want); why != "" {
			return &early{kind, why, bringBack}
		}
	}
	return m.tokenWaits(want, node)
}

// bringBack is what helps where a node is not reached.
const bringBack = "bring that node back, or remove it from cluster.yaml"

// phaseBefore is what helps where a node is behind.
func phaseBefore(kind rotation.Kind) string {
	return "apply the phase before to all nodes first: go back to its commit, or with talosgen rotate <env> " + string(kind) + " --abort"
}

// learnsFromAll says why a worker must not get other authorities of the Talos API yet: the
// control plane that signs its certificate tells it whom to trust, and may be any. What it
// is told stays for hours.
func (m rotating) learnsFromAll(kind rotation.Kind, want Want) string {
	if kind != rotation.TalosCA || want.Role == ControlPlane {
		return ""
	}
	for _, n := range m.trusts[kind] {
		if n.Trust == nil && m.role(n.Name) == ControlPlane {
			return n.Name + " is not reached, and workers learn from control planes whom to trust"
		}
	}
	return ""
}

// tokenWaits says why a node must not get another machine token yet. Workers that the
// autoscaler made are its own.
func (m rotating) tokenWaits(want Want, node Node) *early {
	has, wants := node.Config.Trust(rotation.MachineToken), want.Config.Trust(rotation.MachineToken)
	if has.Equal(wants) {
		return nil
	}
	if _, known := m.trusts[rotation.MachineToken]; !known {
		awaited := slices.DeleteFunc(slices.Clone(m.desired.Nodes), func(w Want) bool { return w.Autoscaled })
		m.trusts[rotation.MachineToken] = trustsOf(rotation.MachineToken, awaited, m.observed)
	}
	var workers, certifiers []rotation.Node
	for _, n := range m.trusts[rotation.MachineToken] {
		if m.role(n.Name) == ControlPlane {
			certifiers = append(certifiers, n)
		} else {
			workers = append(workers, n)
		}
	}
	why := ""
	if want.Role == ControlPlane {
		why = rotation.TokenGate(has.Issues, wants.Issues, workers)
	} else if len(certifiers) > 0 && !slices.ContainsFunc(certifiers, func(n rotation.Node) bool { return n.Trust != nil }) {
		why = "no control plane is reached that would take it"
	}
	if why != "" {
		return &early{rotation.MachineToken, why, bringBack}
	}
	return nil
}

// refuse refuses the phase.
func (e early) refuse(m *planner, node string) {
	if e.kind.IsToken() {
		m.refuse(node, "it must not get another machine token: "+e.why, e.hint)
		return
	}
	m.refuse(node, "the next phase of the rotation of "+e.kind.Subject()+" is too early: "+e.why, e.hint)
}

// trustsOf are the nodes that have a configuration, or may have one that is not known,
// and those that may come. Some kinds concern control planes alone.
func trustsOf(kind rotation.Kind, desired []Want, observed Observed) []rotation.Node {
	seen := map[string]Node{}
	for _, n := range observed.Nodes {
		seen[n.Name] = n
	}
	all := []rotation.Node{}
	for _, w := range desired {
		n := seen[w.Name]
		if n.Reach == Maintenance || kind.ControlPlanes() && w.Role != ControlPlane {
			continue
		}
		other := rotation.Node{Name: w.Name}
		if n.Reach == Configured && n.Config != nil {
			trust := n.Config.Trust(kind)
			other.Trust = &trust
		}
		all = append(all, other)
	}
	return append(all, observed.Autoscaler.comers(kind)...)
}

// OfTalosAuthority reports whether a difference is one in the authorities of the Talos API,
// the one that signs or those that are trusted besides.
func OfTalosAuthority(c nodeconfig.Change) bool {
	field, _, _ := strings.Cut(strings.TrimPrefix(c.Path, "machine."), ".")
	field, _, _ = strings.Cut(field, "[")
	return strings.HasPrefix(c.Path, "machine.") && (field == "ca" || field == "acceptedCAs")
}

// certifiers are the steps that a worker waits for which gets other authorities, or
// another token: control planes sign its certificate, and tell it whom to trust. It asks
// one of them then, with the token, and not again for hours.
func certifiers(p *Plan, want Want, d *nodeconfig.Difference) (needs []plan.Key) {
	renewed := func(c nodeconfig.Change) bool { return c.Path == "machine.token" || OfTalosAuthority(c) }
	if want.Role == ControlPlane || !slices.ContainsFunc(d.Changes, renewed) {
		return nil
	}
	for _, s := range p.Steps {
		if s.Action == Configure && s.Role == ControlPlane {
			needs = append(needs, s.Key)
		}
	}
	return needs
}

// forgetsKey reports whether the API server of a node is to lose a key with which it can
// read Secrets now.
func forgetsKey(want Want, node Node) bool {
	if node.Config == nil || want.Config == nil {
		return false
	}
	return rotation.Forgets(node.Config.Trust(rotation.EncryptionKey), want.Config.Trust(rotation.EncryptionKey))
}

// rewriteSecrets is the step after which no Secret is stored with a key that goes: once
// in a run, before the first API server loses it. Then all of them encrypt with one that
// stays.
func (m rotating) rewriteSecrets(before plan.Key) plan.Key {
	if m.rewritten == "" {
		m.rewritten = m.step(RewriteSecrets, WholeCluster, "a key goes that they may be stored with", before).Key
		return m.rewritten
	}
	return before
}
