package kubeplan

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/manifest"
)

// Action is what becomes of an object.
type Action string

// The actions.
const (
	Create   Action = "create"
	Change   Action = "change"    // fields differ, or are to be owned
	Replace  Action = "replace"   // delete and create: a field that differs is immutable
	Delete   Action = "delete"    // talosgen made it, and Git has it no more
	HandOver Action = "hand-over" // talosgen made it, and it is Flux's now
	TakeOver Action = "take-over" // fields of leftovers become those of the owner; only in [Takeover]

	Unchanged Action = "unchanged"
	FluxOwns  Action = "flux" // Flux makes it, and keeps it
	Conflict  Action = "conflict"
)

// effective are the actions that change something.
var effective = []Action{Create, Change, Replace, Delete, HandOver, TakeOver}

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
	// The consent that it takes, and whether it is there.
	Consent plan.Consent `json:"consent,omitempty"`
	Allowed bool         `json:"allowed"`

	id   ID
	item *Item  // nil for Delete
	live Object // nil for Create
}

// ID says which object it is.
func (s Step) ID() ID { return s.id }

// Item is what is desired; nil if the object is to go.
func (s Step) Item() *Item { return s.item }

// Live is the object as it was seen; nil if it was not there.
func (s Step) Live() Object { return s.live }

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
	return len(p.Changes()) == 0 && len(p.Refusals) == 0 && len(p.of(Conflict)) == 0
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
	slices.SortFunc(during, compareIDs)
	return slices.Compact(during), p.inventory
}

// InventoryBefore is what the cluster says that talosgen owns.
func (p Plan) InventoryBefore() []ID { return p.before }

// Executable returns why the plan must not be executed: refusals, conflicts, and
// missing consent.
func (p Plan) Executable() (reasons []string) {
	for _, n := range p.Refusals {
		reasons = append(reasons, fmt.Sprintf("%s: %s", n.Key, n.Text))
	}
	for _, s := range p.of(Conflict) {
		reasons = append(reasons, fmt.Sprintf("%s: %s", s.Key, s.Reason))
	}
	for _, s := range p.Steps {
		if !s.Allowed {
			reasons = append(reasons, fmt.Sprintf("%s: to %s it needs consent", s.Key, s.Action))
		}
	}
	return reasons
}

// Stale returns what is not any more as the plan has seen it.
func (p Plan) Stale(now Observed) (changed []string) {
	for _, was := range p.Reads {
		id, _ := manifest.ParseID(string(was.Key))
		switch digest := digestOf(now.live(id)); {
		case digest == was.Digest:
		case digest == "":
			changed = append(changed, fmt.Sprintf("%s is gone", was.Key))
		case was.Digest == "":
			changed = append(changed, fmt.Sprintf("%s is there now", was.Key))
		default:
			changed = append(changed, fmt.Sprintf("%s has changed", was.Key))
		}
	}
	return changed
}

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

// JSON writes the plan for programs.
func (p Plan) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the plan of Kubernetes: %w", err)
	}
	return append(text, '\n'), nil
}
