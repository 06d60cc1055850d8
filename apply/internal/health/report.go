package health

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/sorting"
)

// State is how a check came out.
type State string

// The states.
const (
	OK      State = "ok"
	Warning State = "warning" // worth knowing, and no illness
	Failed  State = "failed"
	Skipped State = "skipped" // it cannot hold yet
)

// The checks, in the order in which they are reported: what comes first
// explains what follows.
const (
	Reached       = "node reached"
	Stage         = "stage running"
	Time          = "time in sync"
	Network       = "network ready"
	Services      = "services healthy"
	Quorum        = "etcd quorum"
	Members       = "etcd members agree"
	ControlPlanes = "etcd members are control planes"
	Leader        = "etcd leader"
	Alarms        = "etcd alarms"
	StaticPods    = "control plane pods ready"
	API           = "Kubernetes API"
	Registered    = "Kubernetes nodes registered"
	Ready         = "Kubernetes nodes ready"
	Versions      = "Talos versions"
)

var order = []string{
	Reached, Stage, Time, Network, Services, Quorum, Members, ControlPlanes, Leader, Alarms, StaticPods, API, Registered, Ready, Versions,
}

// Result is how one check of one object came out.
type Result struct {
	Check string `json:"check"`
	// The node; empty for a check of the whole cluster.
	Node  string `json:"node,omitempty"`
	State State  `json:"state"`
	// What was seen.
	Text string `json:"text,omitempty"`
}

// AboutEtcd reports whether the check is about etcd.
func (r Result) AboutEtcd() bool {
	return slices.Contains([]string{Quorum, Members, ControlPlanes, Leader, Alarms}, r.Check)
}

// String says it in one line.
func (r Result) String() string {
	return strings.TrimSuffix(strings.Join(slices.DeleteFunc([]string{r.Check, r.Node, r.Text}, func(s string) bool { return s == "" }), ": "), ": ")
}

// Report is how all checks came out.
type Report struct {
	Results []Result `json:"results"`
}

// Well reports whether no check failed.
func (r Report) Well() bool { return len(r.Failures()) == 0 }

// Results is a report as programs read it.
type Results struct {
	Cluster string   `json:"cluster"`
	Well    bool     `json:"well"`
	Results []Result `json:"results"`
}

// Of is the report of a cluster, for programs.
func (r Report) Of(cluster string) Results {
	return Results{cluster, r.Well(), append([]Result{}, r.Results...)}
}

// Failures are the checks that failed.
func (r Report) Failures() []Result {
	return r.only(func(x Result) bool { return x.State == Failed })
}

func (r Report) only(keep func(Result) bool) (found []Result) {
	for _, x := range r.Results {
		if keep(x) {
			found = append(found, x)
		}
	}
	return found
}

// add notes how a check came out. What nodes say goes to a terminal.
func (r *Report) add(check, node string, s State, format string, args ...any) {
	r.Results = append(r.Results, Result{Check: check, Node: node, State: s, Text: plan.Printable(fmt.Sprintf(format, args...))})
}

// sort puts results in the order of checks.
func (r *Report) sort() {
	sorting.By(r.Results, func(a, b Result) int {
		return cmp.Compare(slices.Index(order, a.Check), slices.Index(order, b.Check))
	})
}

// String is a table: a line for each check that holds everywhere, and one for
// each node of which a check does not.
func (r Report) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STATE\tCHECK\tNODE\tDETAIL")
	for _, check := range order {
		all := r.only(func(x Result) bool { return x.Check == check })
		good := 0
		for _, x := range all {
			if x.State == OK {
				good++
				continue
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", x.State, check, cmp.Or(x.Node, "-"), x.Text)
		}
		if good > 0 {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", OK, check, summary(all, good), detail(all))
		}
	}
	_ = w.Flush() // memory takes everything
	return trailing.ReplaceAllString(b.String(), "\n")
}

// trailing is what columns leave behind the last text of a line.
var trailing = regexp.MustCompile(` +\n`)

// summary says of how many nodes a check holds.
func summary(all []Result, good int) string {
	switch {
	case all[0].Node == "":
		return "-"
	case good < len(all):
		return fmt.Sprintf("%d others", good)
	case good == 1:
		return all[0].Node
	}
	return fmt.Sprintf("all %d", good)
}

// detail is what a check that holds has to say: that of the whole cluster, or
// what all nodes have in common.
func detail(all []Result) string {
	text := ""
	for _, x := range all {
		if x.State == OK {
			if text != "" && text != x.Text {
				return ""
			}
			text = x.Text
		}
	}
	return text
}
