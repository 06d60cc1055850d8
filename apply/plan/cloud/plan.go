package cloud

import (
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// Kind is a kind of object that a plan changes.
type Kind string

// The kinds, in the order in which a cluster is built.
const (
	KindNetwork        Kind = "network"
	KindSubnet         Kind = "subnet"
	KindRoute          Kind = "route"
	KindFirewall       Kind = "firewall"
	KindPlacementGroup Kind = "placement-group"
	KindSSHKey         Kind = "ssh-key"
	KindFloatingIP     Kind = "floating-ip"
	KindPrimaryIP      Kind = "primary-ip"
	KindServer         Kind = "server"
	KindVolume         Kind = "volume"
	KindLoadBalancer   Kind = "load-balancer"
	KindImage          Kind = "image"
	KindRRSet          Kind = "dns-record"
)

// KeyOf makes the key of an object: its kind, a slash, and its name. A subnet is
// named by its range, a route by its destination, a set of DNS records by name,
// zone and type: dns-record/api.example.com/A.
func KeyOf(kind Kind, name string) plan.Key { return plan.Key(string(kind) + "/" + name) }

// Action is what happens to an object.
type Action string

// The actions. To replace is to delete and to create in one change: if it is
// interrupted in between, the next plan creates.
const (
	Create  Action = "create"
	Update  Action = "update"
	Replace Action = "replace"
	Delete  Action = "delete"
)

// Class says how much a change, or a field of one, disturbs.
type Class string

// The classes, from harmless to impossible.
const (
	InPlace     Class = "in-place"    // while the object works
	PowerOff    Class = "power-off"   // the server has to be off meanwhile
	Replacement Class = "replacement" // only a new object can have it
	Refused     Class = "refused"     // not by apply
)

// Plan is what has to be done to make the infrastructure of a cluster what it
// should be.
type Plan struct {
	Cluster string `json:"cluster"`
	// Whether the plan is one of [Destroy].
	Destroy bool `json:"destroy,omitempty"`
	// The changes, each one after those that it needs.
	Changes []Change `json:"changes"`
	// The nodes that only new servers can be as they are desired.
	Recreate []Recreation `json:"recreate,omitempty"`
	// What should be known, and does not keep the plan from being executed.
	Warnings []plan.Note `json:"warnings,omitempty"`
	// Why the plan must not be executed; missing consent is at the changes.
	Refusals []plan.Note `json:"refusals,omitempty"`
	// What destroy does not touch although it belongs to, or hangs at, the
	// cluster.
	Left []plan.Note `json:"left,omitempty"`
	// The price of a month, before and after.
	Cost Cost `json:"cost"`
	// The objects that the changes read and write, as they were.
	Reads []plan.Digest `json:"reads"`

	// What the plan was made from. Together with a change they are all that is
	// needed to execute it.
	Desired  schemas.Infrastructure `json:"-"`
	Observed Observed               `json:"-"`

	policy plan.Consent
	// What is desired as Git has it: Desired has labels besides that are to stay, or that
	// say that an object was adopted.
	inGit schemas.Infrastructure
}

// Change is what happens to one object.
type Change struct {
	Key    plan.Key `json:"key"`
	Kind   Kind     `json:"kind"`
	Name   string   `json:"name"`
	ID     int64    `json:"id,omitempty"` // of the object that exists; 0 where there is none, or no id
	Action Action   `json:"action"`
	Class  Class    `json:"class"`
	// What differs. Of a creation: what is worth reading, and every field that
	// the executor sets by a call of its own. Of a deletion: none.
	Fields []Field `json:"fields,omitempty"`
	// The changes that must be done before.
	Needs []plan.Key `json:"needs,omitempty"`
	// The objects that it relies on, changed or not, and those that must be gone
	// or have left before.
	relies, gone []plan.Key
	// Of a route: the server that is switched off once it leads elsewhere.
	sake plan.Key
	// Whether something is lost that cannot be had again: an object, an
	// address, backups.
	Destructive bool `json:"destructive,omitempty"`
	// The consent that it takes; NoConsent for most. Allowed says whether the
	// policy gives it.
	Consent plan.ConsentKind `json:"consent,omitempty"`
	Allowed bool             `json:"allowed"`
	// Whether protection has to be lifted first.
	LiftProtection bool `json:"liftProtection,omitempty"`
	// Why.
	Reason string `json:"reason,omitempty"`

	// Of a server that is created, or given another type, and of the server that
	// makes an image: where and as what, best first.
	Candidates []Candidate `json:"candidates,omitempty"`
	// Of a server that is created: the id of the image; 0 if it has to be made
	// first, by the change of kind image among Needs.
	Image int64 `json:"image,omitempty"`
}

// Candidate is a server type in a location.
type Candidate struct {
	Type     string `json:"type"`
	Location string `json:"location"`
	// What Hetzner said when it was asked last.
	Available bool `json:"available"`
}

// Order returns the key of the change, and those of the changes before it.
func (c Change) Order() (key plan.Key, needs []plan.Key) { return c.Key, c.Needs }
