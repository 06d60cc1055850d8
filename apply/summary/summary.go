package summary

import (
	"slices"
	"time"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
)

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	InSync      Outcome = "in-sync"     // there was nothing to do
	Done        Outcome = "done"        // all that was to do is done
	Refused     Outcome = "refused"     // something must not be done, so nothing was
	Failed      Outcome = "failed"      // an error ended it; what was done stays
	Interrupted Outcome = "interrupted" // somebody ended it; what was done stays
)

// Stages of which a report tells what changed, in their order. Images are made
// while the infrastructure is, and the bootstrap is a step with nodes.
const (
	Infrastructure = "infrastructure"
	Images         = "images"
	Nodes          = "nodes"
	Upgrade        = "upgrade"
	Bootstrap      = "bootstrap"
	Kubernetes     = "kubernetes"
	Flux           = "flux"
)

var sections = []string{Infrastructure, Images, Nodes, Upgrade, Bootstrap, Kubernetes, Flux}

// Summary is the report of a run. Its lists are never nil: programs read them.
type Summary struct {
	Environment string  `json:"environment"`
	Cluster     string  `json:"cluster"`
	Outcome     Outcome `json:"outcome"`
	// What was done, in the order in which it was, and what is left to do, as far
	// as that is known.
	Done []Item `json:"done"`
	Left []Item `json:"left"`
	// What the run went through, in its order, and the sums of it.
	Stages   []Stage  `json:"stages"`
	Seconds  float64  `json:"seconds"`
	Requests Requests `json:"requests"`
	// Requests that Hetzner Cloud answers before the rate limit holds them up; -1
	// if that is not known.
	RequestsLeft int `json:"requestsLeft"`
	// What the cluster costs in a month; nil if no prices are known.
	Cost *Cost `json:"cost,omitempty"`
	// What is not as it should be, or will not stay as it is, though the run may
	// have done all it had to.
	Pending []Pending `json:"pending"`
	Next    []Command `json:"next"`
}

// Complete reports whether all that could be done is done.
func (s Summary) Complete() bool { return s.Outcome == InSync || s.Outcome == Done }

// Item is one thing that was done, or is to do.
type Item struct {
	Stage  string `json:"stage"`
	Action string `json:"action"`
	Object string `json:"object"`
	ID     int64  `json:"id,omitempty"` // at Hetzner Cloud
	// Of an upgrade: the version that the object has after it.
	Version string `json:"version,omitempty"`
}

// Stage is how long a stage took, and how much it asked for.
type Stage struct {
	Stage    string        `json:"stage"`
	Took     time.Duration `json:"-"`
	Seconds  float64       `json:"seconds"` // Took for programs
	Requests Requests      `json:"requests"`
}

// Requests are calls of the APIs that a run talks to, repetitions included.
type Requests struct {
	Hetzner    int `json:"hetzner"`
	Nodes      int `json:"nodes"`
	Kubernetes int `json:"kubernetes"`
}

// Plus is the sum of two.
func (r Requests) Plus(more Requests) Requests {
	return Requests{r.Hetzner + more.Hetzner, r.Nodes + more.Nodes, r.Kubernetes + more.Kubernetes}
}

// Minus is what came on top of others.
func (r Requests) Minus(others Requests) Requests {
	return Requests{r.Hetzner - others.Hetzner, r.Nodes - others.Nodes, r.Kubernetes - others.Kubernetes}
}

// Cost is the price of a month, before the run and after it. What is left to do
// is in After as if it was done.
type Cost struct {
	Currency string          `json:"currency"`
	Before   cloudplan.Price `json:"before"`
	After    cloudplan.Price `json:"after"`
}

// Kinds of what is pending.
const (
	Held        = "held"     // a node keeps a version, or what takes a new node
	Reboots     = "reboot"   // a change waits for a reboot
	Unreachable = "away"     // a node is not reached, or does not run
	Health      = "health"   // a check of the cluster's health fails
	Status      = "status"   // something in Kubernetes is not as Git has it
	Conflict    = "conflict" // others own fields of an object that Git has otherwise
	Waiting     = "waiting"  // something is left for others to do
	Access      = "access"   // nobody reaches an API of the cluster
)

// Pending is something that a run leaves as it is.
type Pending struct {
	Kind   string `json:"kind"`
	Object string `json:"object,omitempty"`
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty"`
}

// Command is a command to run next, and what for.
type Command struct {
	Command string `json:"command"`
	Reason  string `json:"reason"`
}

// Fold puts stages of the same name together, in the order of their first, and
// returns the sums.
func Fold(stages []Stage) (folded []Stage, took time.Duration, requests Requests) {
	folded = []Stage{}
	for _, s := range stages {
		took, requests = took+s.Took, requests.Plus(s.Requests)
		i := slices.IndexFunc(folded, func(f Stage) bool { return f.Stage == s.Stage })
		if i < 0 {
			folded = append(folded, Stage{Stage: s.Stage})
			i = len(folded) - 1
		}
		f := &folded[i]
		f.Took, f.Requests = f.Took+s.Took, f.Requests.Plus(s.Requests)
		f.Seconds = f.Took.Seconds()
	}
	return folded, took, requests
}
