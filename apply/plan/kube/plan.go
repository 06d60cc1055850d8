package kube

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
)

// Action is what becomes of an object.
type Action string

// The actions.
const (
	Create            Action = "create"
	Change            Action = "change"    // fields differ, or are to be owned
	Replace           Action = "replace"   // delete and create: a field that differs is immutable
	Delete            Action = "delete"    // talosgen made it, and Git has it no more
	TransferOwnership Action = "hand-over" // talosgen made it, and it is Flux's now; or the other way round
	TakeOver          Action = "take-over" // fields of leftovers become those of the owner; only in [Takeover]

	Unchanged Action = "unchanged"
	FluxOwns  Action = "flux"   // Flux makes it, and keeps it
	ArgoOwns  Action = "argocd" // or Argo CD does
	Conflict  Action = "conflict"
	// For something that is not there, and that the tree does not make, or for
	// the end of a conflict.
	Blocked Action = "waits"
)

// effective are the actions that change something.
var effective = []Action{Create, Change, Replace, Delete, TransferOwnership, TakeOver}

// Step is what becomes of one object.
type Step struct {
	Key    plan.Key `json:"key"` // as [ID.String]
	Action Action   `json:"action"`
	Stage  Stage    `json:"stage,omitempty"`
	// Whose it is: talosgen, or a Kustomization.
	Owner string `json:"owner,omitempty"`
	// Where Git has it; empty if it has it no more.
	File   string   `json:"file,omitempty"`
	Reason string   `json:"reason,omitempty"`
	Fields []Field  `json:"fields,omitempty"`
	Others []string `json:"managers,omitempty"` // of TakeOver: whose fields
	// Of Conflict: who owns what.
	Conflicts []FieldConflict `json:"conflicts,omitempty"`
	// Of Waits: the object in conflict that it depends on, if that is why.
	After plan.Key `json:"after,omitempty"`
	// The consent that it takes, and whether it is there.
	Consent plan.ConsentKind `json:"consent,omitempty"`
	Allowed bool             `json:"allowed"`

	id   ID
	item *Item  // nil for Delete
	live Object // nil for Create
	// Of Conflict: what looks after it, if that is why.
	rival owner
}

// ID says which object it is.
func (s Step) ID() ID { return s.id }

// Item is what is desired; nil if the object is to go.
func (s Step) Item() *Item { return s.item }

// Live is the object as it was seen; nil if it was not there.
func (s Step) Live() Object { return s.live }

// edited reports whether fields that Git has otherwise are somebody else's. The
// object stays as it is, and with it what depends on it; the rest goes on.
func (s Step) edited() bool { return s.Action == Conflict && len(s.Conflicts) > 0 }

// Engines reports whether the object is Flux' or Argo CD's to make and keep.
func (s Step) Engines() bool { return s.Action == FluxOwns || s.Action == ArgoOwns }

// Effective reports whether the step changes something.
func (s Step) Effective() bool { return slices.Contains(effective, s.Action) }

// Format prints the step as [Step.String] does, whatever the verb: its object
// may be a Secret.
func (s Step) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// String is the action and the object.
func (s Step) String() string { return string(s.Action) + " " + string(s.Key) }

// Plan is what has to be done. What it prints and encodes holds no secrets.
type Plan struct {
	Cluster string `json:"cluster"`
	Steps   []Step `json:"steps"` // in their order, also of those that change nothing
	// Whether there is an API yet; without one everything is to be made.
	API      bool        `json:"api"`
	Warnings []plan.Note `json:"warnings,omitempty"`
	// Why the plan must not be executed.
	Refusals []plan.Note `json:"refusals,omitempty"`
	// What was seen.
	Reads []plan.Digest `json:"reads"`

	inventory []ID // of talosgen's objects, when the plan is done
	before    []ID // as it was
}

// Format prints the plan as [Plan.String] does, whatever the verb.
func (p Plan) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(p.String())) }

// Changes are the steps that change something, in their order.
func (p Plan) Changes() (steps []Step) {
	for _, s := range p.Steps {
		if s.Effective() {
			steps = append(steps, s)
		}
	}
	return steps
}

// InSync reports whether there is nothing to do, and nothing that should be.
func (p Plan) InSync() bool {
	return len(p.Changes()) == 0 && len(p.of(Blocked)) == 0 && len(p.of(Conflict)) == 0 && len(p.Refusals) == 0
}

// Refused reports whether something must not be done, so that nothing is.
func (p Plan) Refused() bool {
	return len(p.Refusals) > 0 || slices.ContainsFunc(p.of(Conflict), func(s Step) bool { return !s.edited() })
}

// of are the steps with an action.
func (p Plan) of(action Action) (steps []Step) {
	for _, s := range p.Steps {
		if s.Action == action {
			steps = append(steps, s)
		}
	}
	return steps
}

// Inventory is what talosgen owns while the plan is executed, with what is
// deleted, and after it.
func (p Plan) Inventory() (during, after []ID) {
	during = slices.Concat(p.before, p.inventory)
	sorting.By(during, compareIDs)
	return slices.Compact(during), p.inventory
}

// InventoryBefore is what the cluster says that talosgen owns.
func (p Plan) InventoryBefore() []ID { return p.before }

// digestOf stands for the state of an object: which one it is, and its
// generation, which statuses leave as it is. Objects without one have no status
// that comes and goes. It never is of a content: that may be a secret.
func digestOf(o Object) string {
	if o == nil {
		return ""
	}
	if generation, ok := o.Value("metadata", "generation").(int64); ok {
		return fmt.Sprintf("%s generation %d", UID(o), generation)
	}
	return fmt.Sprintf("%s version %s", UID(o), o.Text("metadata", "resourceVersion"))
}

// Check returns an error if another plan, made later, does something that this
// one, which somebody agreed to, does not: an object was made, changed or
// removed by others meanwhile. A plan that was made before there was an API
// agrees to everything but what needs consent.
func (p *Plan) Check(now *Plan) error {
	if !p.API {
		return now.Problems()
	}
	agreed := map[string]bool{}
	for _, s := range p.Changes() {
		agreed[s.String()] = true
	}
	var changed []string
	for _, s := range now.Changes() {
		if !agreed[s.String()] {
			changed = append(changed, "it would now "+s.String())
		}
	}
	if len(changed) > 0 {
		return plan.StaleError(p.Cluster, changed...)
	}
	return now.Problems()
}

// Problems is why the plan must not be executed: refusals, objects that Flux looks
// after, and missing consent. Nil: nothing is in the way.
func (p *Plan) Problems() error {
	var problems diag.List
	for _, n := range p.Refusals {
		problems.Add(n.Problem())
	}
	for _, s := range p.of(Conflict) {
		if !s.edited() {
			problems.Add(s.conflict())
		}
	}
	for _, s := range p.Steps {
		if !s.Allowed {
			problems.Add(diag.On(string(s.Key), "to %s it needs consent: %s", s.Action, s.Reason).
				WithHint("--allow %s", s.Key).WithCode(diag.Usage))
		}
	}
	return problems.Err()
}

// Edited is the error that somebody else owns fields of objects that Git has
// otherwise, with the exit code [diag.Conflict]; nil if nobody does. The rest of
// the plan can be executed.
func (p *Plan) Edited() error {
	var problems diag.List
	for _, s := range p.of(Conflict) {
		if s.edited() {
			problems.Add(s.conflict())
		}
	}
	return problems.Err()
}

func (s Step) conflict() *diag.Problem {
	return diag.On(string(s.Key), "%s", s.Reason).WithHint("%s", s.conflictHint()).WithCode(diag.Conflict)
}

// conflictHint says how a conflict ends.
func (s Step) conflictHint() string {
	namespace, name, _ := strings.Cut(s.rival.name, "/")
	switch {
	case s.rival.name == "":
		return fmt.Sprintf("`talosgen takeover` gives the fields to %s, if the other one is gone for good", s.Owner)
	case s.rival.engine == EngineArgoCD:
		return fmt.Sprintf("`kubectl annotate application %[1]s -n %[2]s %[3]s=true` lets Argo CD wait; run this again, and `kubectl annotate application %[1]s -n %[2]s %[3]s-` when the commit without the object is pushed: then it leaves it alone", name, namespace, SkipReconcile)
	}
	return fmt.Sprintf("`flux suspend kustomization %s -n %s`, and run this again; resume it when Flux has fetched the commit without the object: then it leaves it alone", name, namespace)
}

// Saved is the section of Kubernetes in the file of a saved plan.
type Saved struct {
	plan.Section[plan.Consent, Plan]
}

// Save is the section in a file, of a plan that was made by a consent.
func (p *Plan) Save(consent plan.Consent) *Saved {
	return &Saved{plan.Section[plan.Consent, Plan]{Policy: consent, Plan: p}}
}

// Stale says what a plan that is made again does otherwise.
func (s Saved) Stale(now *Plan) (changed []string) {
	before, after := map[string]bool{}, map[string]bool{}
	for _, step := range s.Plan.Changes() {
		before[step.String()] = true
	}
	for _, step := range now.Changes() {
		after[step.String()] = true
		if !before[step.String()] {
			changed = append(changed, "it would now "+step.String())
		}
	}
	for _, step := range s.Plan.Changes() {
		if !after[step.String()] {
			changed = append(changed, "there is no need any more to "+step.String())
		}
	}
	return append(changed, plan.Changed(s.Plan.Reads, now.Reads)...)
}
