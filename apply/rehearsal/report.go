package rehearsal

import "time"

// Sure is how sure a line of a report is.
type Sure string

// How sure lines are. Nothing is a promise about an installer or a kernel.
const (
	Read      Sure = "read"      // from the cluster, as it was
	Computed  Sure = "computed"  // by the code of the run, on simulators
	Estimated Sure = "estimated" // by how long such things usually take
)

// Result is what a rehearsal comes to.
type Result string

// The results.
const (
	Clear   Result = "clear"   // nothing is disturbed that takes consent, and it came to its end
	Risks   Result = "risks"   // it did, if its risks are agreed to, or something suffers meanwhile
	Refused Result = "refused" // the run would not begin
	Failed  Result = "failed"  // it would begin, and not come to its end
)

// Report is what a run would do. Its lists are never nil: programs read them.
type Report struct {
	Environment string `json:"environment"`
	Cluster     string `json:"cluster"`
	// The command that was rehearsed: apply, upgrade or destroy.
	Command string `json:"command"`
	// When what it began with was read.
	Observed time.Time `json:"observed"`
	Result   Result    `json:"result"`
	// Why it is refused, or fails, or what it leaves to people.
	Problems []string `json:"problems"`
	// What takes consent. The rehearsal goes on as if it were given.
	Risks []Risk `json:"risks"`
	// How long it takes in all; estimated.
	Seconds float64 `json:"seconds"`
	// What it does, in its order, which is computed.
	Steps []Step `json:"steps"`
	// Workloads that have fewer pods ready meanwhile than they want.
	Workloads []Workload `json:"workloads"`
	// What of the control plane is away meanwhile.
	Gaps []Gap `json:"gaps"`
	// Budgets that hold up evictions.
	Budgets []Budget `json:"budgets"`
	// Pods that fit on no node for a while.
	Nowhere []Nowhere `json:"nowhere"`
	// How much more a month costs, net, with its sign; empty: that is not known.
	MonthlyCost string `json:"monthlyCost,omitempty"`
	Currency    string `json:"currency,omitempty"`
	// What was not looked at, or is not simulated.
	Unseen []string `json:"unseen"`

	// Whether the cluster ends with the run.
	ends bool
}

// Risk is something that takes consent.
type Risk struct {
	// What --allow takes.
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
}

// Step is something that the run does.
type Step struct {
	Stage string `json:"stage"`
	Name  string `json:"name"`
	// When it begins, and how long it takes; estimated.
	At      float64 `json:"at"`
	Seconds float64 `json:"seconds"`
	// The workloads that lose pods meanwhile, as kind namespace/name; computed.
	Disturbs []string `json:"disturbs"`
	Failed   bool     `json:"failed,omitempty"`
}

// Workload is a workload that suffers.
type Workload struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// How many pods it wants; read.
	Wants int64 `json:"wants"`
	// The fewest that are ready; computed.
	Lowest int64 `json:"lowest"`
	// How long it has fewer than it wants, and none; estimated.
	Below float64 `json:"belowSeconds"`
	Zero  float64 `json:"zeroSeconds"`
	// Whether it is still so at the end.
	Stays bool `json:"stays,omitempty"`
}

// Gap is a time at which something of the control plane is away.
type Gap struct {
	// The Kubernetes API, the quorum of etcd.
	What    string  `json:"what"`
	At      float64 `json:"at"`
	Seconds float64 `json:"seconds"`
	// Whether it is still so at the end: of destroy, that is what was wanted.
	Stays bool `json:"stays,omitempty"`
}

// Budget is a PodDisruptionBudget that does not allow an eviction at once.
type Budget struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// How often it refuses, and for how long, from the first time to the last.
	Refusals int     `json:"refusals"`
	Seconds  float64 `json:"seconds"`
	// The pods that wait for it.
	Pods []string `json:"pods"`
}

// Nowhere is a pod that fits on no node for a while.
type Nowhere struct {
	Pod string `json:"pod"` // namespace/name
	Why string `json:"why"`
}
