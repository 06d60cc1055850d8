package apply

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
)

// faultOutcome is what is seen of a fault: how the run ends, and what is advised.
type faultOutcome struct{ seen, advice string }

// What a run does that ends well nevertheless.
const (
	goesOn     = "goes on"
	triesAgain = "tries again"
	looksAgain = "looks again"
)

// outcome is what was seen of the last run, which was by a schedule of one fault. A
// run that ended well is told from one without faults by what it has asked for.
func (w *faultWorld) outcome(fault faultgrammar.Fault, err error) faultOutcome {
	const look = "GET /servers" // each look at the project asks for these once
	more := func(operation string) bool { return w.seen[operation] > w.operations[operation] }
	switch {
	case err != nil:
		return failure(err)
	case more(look) && fault.Operation != look:
		return faultOutcome{seen: looksAgain}
	case more(fault.Operation):
		return faultOutcome{seen: triesAgain}
	}
	return faultOutcome{seen: goesOn}
}

// failure is what is seen of a run that failed: its exit code, and each problem
// without what is of the cluster.
func failure(err error) faultOutcome {
	var sentences, advice []string
	note := func(to *[]string, text string) {
		text = general(text)
		if text != "" && !slices.Contains(*to, text) {
			*to = append(*to, text)
		}
	}
	for _, p := range problems(err) {
		note(&sentences, strings.TrimPrefix(p.Object+": "+p.Message, ": "))
		note(&advice, p.Hint)
	}
	slices.Sort(sentences)
	slices.Sort(advice)
	return faultOutcome{fmt.Sprintf("exit %d: %s", diag.CodeOf(err), strings.Join(sentences, " + ")), strings.Join(advice, " + ")}
}

// problems are those in an error.
func problems(err error) (all []*diag.Problem) {
	var several interface{ Unwrap() []error }
	var one *diag.Problem
	switch {
	case err == nil:
	case errors.As(err, &one) && err == error(one):
		all = append(all, one)
	case errors.As(err, &several):
		for _, e := range several.Unwrap() {
			all = append(all, problems(e)...)
		}
	case one != nil:
		all = append(all, one)
	default:
		all = append(all, &diag.Problem{Message: err.Error()})
	}
	return all
}

var (
	// ofCluster are names of the clusters of [faultCases], types, addresses and times.
	ofCluster = sync.OnceValue(func() *regexp.Regexp {
		text, err := os.ReadFile("../rendered/prod/infrastructure.yaml")
		if err != nil {
			panic(err)
		}
		shipped := regexp.MustCompile(`(?m)^cluster: "?([-\w]+)`).FindStringSubmatch(string(text))[1]
		return regexp.MustCompile(`\b[0-9a-f]{1,4}(:[0-9a-f]{0,4}){2,}(/\d+)?|\b(cluster=|` + regexp.QuoteMeta(shipped) +
			`\b|prod\b|demo\b|lighthouse\b|harbour\b|api\.|example\.(com|org|net))[-\w/.=,]*|\bc(p|a)?x\d+( in \w+)?\b|\b\d[-\d:.TZ]*(/\d+)?\b`)
	})
	// ofFault is what the fault itself says, which the table has beside it.
	ofFault = regexp.MustCompile(`: refused on the way \(\w+\)`)
	space   = regexp.MustCompile(`\s+`)
)

// sinceBegan ends a sentence after which a change is described.
const sinceBegan = " since the run began"

// general leaves out of a text what is of the cluster, and what is said of the second
// object like it, and fits it into a table.
func general(text string) string {
	// How long an action may run is the same for all.
	text = strings.ReplaceAll(ofFault.ReplaceAllString(text, ""), "30m0s", "half an hour")
	text = strings.NewReplacer("|", "/", ";", ",", "\n", ", ").Replace(ofCluster().ReplaceAllString(strings.TrimSpace(text), "..."))
	if sentence, _, is := strings.Cut(text, sinceBegan+": "); is {
		text = sentence + sinceBegan // then comes what changes
	}
	head, list, is := strings.Cut(space.ReplaceAllString(text, " "), ": it is stale: ")
	if !is {
		return head
	}
	var parts []string
	for part := range strings.SplitSeq(list, ", ") {
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return head + ": it is stale: " + strings.Join(parts, ", ")
}

// TestGeneral: what is said of one cluster is what is said of the next one.
func TestGeneral(t *testing.T) {
	for text, want := range map[string]string{
		"server prod-worker-1: create a cpx22 in nbg1: refused on the way (forbidden)":                            "server ...: create a ...",
		"lock of the cluster lighthouse: release it: refused on the way (not_found)":                              "lock of the cluster ...: release it",
		"network harbour: delete: refused on the way (protected)":                                                 "network ...: delete",
		"plan of prod: it is stale: server/prod-a-1 has changed; server/prod-a-2 has changed":                     "plan of ...: it is stale: server/... has changed",
		"server/prod-a-1: to update it was not agreed to, and is needed only since the run began: placementGroup": "server/...: to update it was not agreed to, and is needed only since the run began",
		"load-balancer prod: set the reverse DNS name of 2001:db8:1b::1":                                          "load-balancer ...: set the reverse DNS name of ...",
		"let the load balancer reach it by its private one":                                                       "let the load balancer reach it by its private one",
		"DNS record api.prod.example.com: read: server responded with status code 404":                            "DNS record ...: read: server responded with status code ...",
		"server harbour-a-1: attach it to the network with 10.0.0.2: its action runs for more than 30m0s":         "server ...: attach it to the network with ...: its action runs for more than half an hour",
		"it keeps other runs out until 2026-11-21T14:21:51Z\nto remove it before: talosgen unlock demo":           "it keeps other runs out until ..., to remove it before: talosgen unlock ...",
	} {
		if got := general(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
