package kube

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/sorting"
)

// Make plans.
func Make(desired Desired, observed Observed, policy plan.Consent) *Plan {
	m := &planner{observed: observed, policy: policy, makes: made(desired), argo: argoNamespace(desired), noted: map[ID]bool{}, plan: &Plan{
		Cluster: desired.Cluster, API: observed.API, Steps: []Step{}, Reads: []plan.Digest{}, before: observed.Inventory,
	}}
	for _, id := range observed.Inventory {
		m.noted[id] = true
	}
	wanted := map[ID]*Item{}
	for _, item := range desired.sorted() {
		m.unique(wanted, &item)
		m.plan.Steps = append(m.plan.Steps, m.item(&item))
	}
	m.leftovers(wanted)
	m.hold()
	m.reads()
	return m.plan
}

// planner makes one plan.
type planner struct {
	observed Observed
	policy   plan.Consent
	makes    map[string]bool // namespaces, and kinds with their groups
	argo     string          // the namespace of Argo CD, if that is what runs objects
	noted    map[ID]bool     // what the inventory names
	plan     *Plan
}

// made are the namespaces and kinds that talosgen makes.
func made(desired Desired) map[string]bool {
	all := map[string]bool{}
	for _, item := range desired.Items {
		switch o := item.Object; {
		case !item.ours():
		case o.Kind() == "Namespace":
			all[o.Name()] = true
		case o.Kind() == "CustomResourceDefinition":
			all[defines(o)] = true
		}
	}
	return all
}

// defines is the kind, with its group, that a definition is of.
func defines(definition Object) string {
	return definition.Text("spec", "names", "kind") + "." + definition.Text("spec", "group")
}

// unique refuses a second owner of an object.
func (m *planner) unique(wanted map[ID]*Item, item *Item) {
	id := item.ID()
	if other := wanted[id]; other != nil {
		m.refuse(id, fmt.Sprintf("is in the tree twice: %s and %s", other.File, item.File), "an object has one owner: remove it from one of them, and render again")
		return
	}
	wanted[id] = item
	if item.Kustomization == "" {
		m.plan.inventory = append(m.plan.inventory, id)
	}
}

func (m *planner) refuse(id ID, text, hint string) {
	m.plan.Refusals = append(m.plan.Refusals, plan.Note{Key: keyOf(id), Text: text, Hint: hint})
}

func (m *planner) warn(id ID, text, hint string) {
	m.plan.Warnings = append(m.plan.Warnings, plan.Note{Key: keyOf(id), Text: text, Hint: hint})
}

// item says what becomes of a desired object.
func (m *planner) item(item *Item) Step {
	id := item.ID()
	live := m.observed.live(id)
	s := Step{Key: keyOf(id), Stage: item.Stage, Owner: item.Owner(), File: item.File, Allowed: true, id: id, item: item, live: live}
	if s.Others = m.given(item, live); len(s.Others) > 0 {
		s.Action, s.Reason = TransferOwnership, fmt.Sprintf("talosgen made it, and it is %s's now", item.Engine)
		return s
	}
	if s.Others = m.observed.returned(*item, live); len(s.Others) > 0 {
		s.Action, s.Reason = TransferOwnership, fmt.Sprintf("%s made it, and it is talosgen's now", m.observed.ownerOf(live).engine)
		return s
	}
	if !item.ours() || m.observed.engineRules(*item) {
		s.Action = item.Engine.owns()
		if live == nil {
			s.Reason = item.Engine.String() + " makes it"
		}
		m.leftoverManagers(s)
		return s
	}
	if m.observed.terminating(id) {
		m.refuse(id, "its namespace is being deleted", "wait until it is gone, then run this again")
	}
	early := item.Boots.skew(m.observed.Running)
	switch other := m.otherOwner(item, live); {
	case live == nil && early != "":
		s.Action, s.Reason = Blocked, early
	case live == nil:
		s.Action, s.Reason = m.create(item)
	case other.name != "":
		s.Action, s.Reason = Conflict, fmt.Sprintf("%s of %s has it, and it is %s's in Git", other, other.engine, item.Owner())
		s.rival = other
	case Applied(live, item.Send(), item.Manager()):
		s.Action = Unchanged
	case early != "":
		s.Action, s.Reason = Blocked, early
	default:
		m.tried(&s)
	}
	if s.Action == Unchanged && m.unnoted(item, live) {
		s.Action, s.Reason = Change, "the inventory does not name it"
	}
	return s
}

// unnoted reports whether talosgen has applied an object, and it is not in its
// inventory: that was lost, or the object was taken over. It would stay when Git has
// it no more. To apply it again notes it.
func (m *planner) unnoted(item *Item, live Object) bool {
	_, ours := applied(live, ManagerTalosgen)
	return ours && item.Kustomization == "" && !m.noted[item.ID()]
}

func (m *planner) otherOwner(item *Item, live Object) (none owner) {
	if live == nil {
		return none
	}
	return m.observed.otherOwner(*item, live)
}

// create says whether an object can be made, and why not at once.
func (m *planner) create(item *Item) (action Action, reason string) {
	id := item.ID()
	switch {
	case !m.observed.API:
		return Create, ""
	case !m.observed.served(*item) && m.makes[id.Kind+"."+id.Group]:
		return Create, "once its kind is defined"
	case !m.observed.served(*item):
		return Blocked, "the API serves no " + Served(item.Object) + ", and the tree does not define it" + m.engineIsMissing(id)
	case m.observed.missingNamespace(id) && m.makes[id.Namespace]:
		return Create, "once its namespace is there"
	case m.observed.missingNamespace(id):
		return Blocked, "there is no namespace " + id.Namespace + ", and the tree does not make it" + m.engineIsMissing(id)
	}
	return Create, ""
}

// engineIsMissing says that Flux or Argo CD is to be installed, for those who look after
// it themselves.
func (m *planner) engineIsMissing(id ID) string {
	switch {
	case strings.HasSuffix(id.Group, ".toolkit.fluxcd.io") || id.Namespace == "flux-system":
		return ": Flux is not installed yet"
	case id.Group == "argoproj.io" || m.argo != "" && id.Namespace == m.argo:
		return ": Argo CD is not installed yet"
	}
	return ""
}

// tried says what becomes of an object for which the API was asked.
func (m *planner) tried(s *Step) {
	dryRun, asked := m.observed.Trials[s.id]
	switch {
	case !asked:
		m.refuse(s.id, "the API was not asked what applying it would do", "")
		s.Action = Conflict
	case len(dryRun.Conflicts) > 0:
		s.Action, s.Conflicts = Conflict, dryRun.Conflicts
		s.Reason = "fields of it are of " + joined(managers(dryRun.Conflicts))
	case dryRun.Immutable != "":
		m.replace(s, dryRun.Immutable)
	case dryRun.Refused != "":
		s.Action = Change
		m.refuse(s.id, dryRun.Refused, dryRun.Hint)
	default:
		s.Fields = Diff(s.live, dryRun.Result)
		before, had := applied(s.live, s.item.Manager())
		after, has := applied(dryRun.Result, s.item.Manager())
		switch {
		case len(s.Fields) > 0:
			s.Action = Change
		case had != has || !equal(before, after):
			s.Action, s.Reason = Change, "its fields become those of "+s.Owner
		default:
			s.Action = Unchanged
		}
	}
}

func managers(conflicts []FieldConflict) (names []string) {
	for _, c := range conflicts {
		if !slices.Contains(names, c.Manager) {
			names = append(names, c.Manager)
		}
	}
	return names
}

// irreplaceable are the kinds whose deletion takes other things with it.
var irreplaceable = []string{"Namespace", "CustomResourceDefinition", "PersistentVolumeClaim", "PersistentVolume"}

// replace plans to delete and make an object again.
func (m *planner) replace(s *Step, why string) {
	s.Action, s.Reason, s.Consent = Replace, why, plan.ConsentDestroy
	s.Allowed = m.policy.Destroys(s.Key, s.id.Name)
	if slices.Contains(irreplaceable, s.id.Kind) {
		m.refuse(s.id, "cannot be made again without losing what depends on it: "+why, "leave the field as it is, or move its content elsewhere first")
	}
}

// leftovers says what becomes of what talosgen made, and Git has no more.
func (m *planner) leftovers(wanted map[ID]*Item) {
	gone := slices.Clone(m.observed.Inventory)
	// What was made first goes last.
	sorting.By(gone, func(a, b ID) int {
		if c := rank(b) - rank(a); c != 0 {
			return c
		}
		return compareIDs(a, b)
	})
	for _, id := range gone {
		if live := m.observed.live(id); live != nil && wanted[id] == nil {
			m.delete(id, live)
		}
	}
}

// given are the managers whose fields become the engine's, of an object that was
// talosgen's in an earlier run. What else the engine has to change follows in
// the next plan, or from the engine itself.
func (m *planner) given(item *Item, live Object) []string {
	if item.Kustomization == "" || live == nil || !m.noted[item.ID()] {
		return nil
	}
	return leftOf(*item, live)
}

// delete plans to delete what talosgen made, if it is still its own.
func (m *planner) delete(id ID, live Object) {
	if _, ours := applied(live, ManagerTalosgen); !ours {
		m.warn(id, "talosgen made it, but another field manager applies it now: it is kept", "")
		return
	}
	if by := m.observed.ownerOf(live); by.name != "" {
		m.warn(id, "talosgen made it, but "+by.String()+" has it now: it stays", "")
		return
	}
	s := Step{
		Key: keyOf(id), Action: Delete, Owner: ManagerTalosgen, Consent: plan.ConsentDestroy, Allowed: m.policy.Destroys(keyOf(id), id.Name),
		Reason: "it is not in Git any more", id: id, live: live,
	}
	switch id.Kind {
	case "Namespace":
		s.Reason += "; everything in it goes too"
	case "CustomResourceDefinition":
		s.Reason += "; all objects of its kind go too"
	}
	m.plan.Steps = append(m.plan.Steps, s)
}

// leftoverManagers warns of what keeps values that the engine removes.
func (m *planner) leftoverManagers(s Step) {
	if s.live == nil || !m.observed.engineRules(*s.item) {
		return
	}
	if others := leftOf(*s.item, s.live); len(others) > 0 {
		m.warn(s.id, fmt.Sprintf("is %s's, but %s still owns fields of it: what Git removes stays", s.item.Engine, joined(others)),
			"`talosgen takeover` gives them to "+s.item.Engine.String())
	}
}

// reads notes what the steps write, as it was seen.
func (m *planner) reads() {
	for _, s := range m.plan.Steps {
		if s.Effective() || s.Action == Conflict {
			m.plan.Reads = append(m.plan.Reads, plan.Digest{Key: s.Key, Digest: digestOf(s.live)})
		}
	}
}
