package apply

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/summary"
	"github.com/talosgen/talosgen/internal/diag"
)

// nodeSection is what has to be done with nodes.
type nodeSection struct {
	*nodeplan.Plan
	// The nodes whose removal takes consent that no change of their server asks for.
	ask []string
}

func (n nodeSection) empty() bool           { return len(n.Steps) == 0 }
func (n nodeSection) refused() bool         { return len(n.Refusals) > 0 }
func (n nodeSection) refusals() []plan.Note { return n.Refusals }

func (n nodeSection) problems() error {
	var problems diag.List
	for _, name := range n.ask {
		problems.Add(diag.On("node "+name, "to remove it needs consent: the tree does not have it").
			WithHint("--allow %s", name).WithCode(diag.Usage))
	}
	return problems.Err()
}

func (n nodeSection) consents() (flags []string) {
	for _, name := range n.ask {
		flags = append(flags, "--allow", name)
	}
	return flags
}

// remains is about nodes that nothing is sent to, or that are not reached.
func (n nodeSection) remains() error {
	var problems diag.List
	problems.AddErr(unsent(n.Plan))
	problems.AddErr(unreachable(n.Plan))
	return problems.Err()
}

func (n nodeSection) left(r *Report) []summary.Item {
	return stepItems(slices.DeleteFunc(slices.Clone(n.Steps), func(s nodeplan.Step) bool {
		return slices.ContainsFunc(r.Steps, func(d nodeplan.Step) bool { return d.Key == s.Key })
	}))
}

// stepItems are steps with nodes as reports list them.
func stepItems(steps []nodeplan.Step) (all []summary.Item) {
	for _, s := range steps {
		stage := summary.Nodes
		if s.Action == nodeplan.Bootstrap {
			stage = summary.Bootstrap
		}
		all = append(all, summary.Item{Stage: stage, Action: string(s.Action), Object: s.Node})
	}
	return all
}

// unsent is the error of [Plan.Unsent].
func unsent(p *nodeplan.Plan) error {
	if p == nil || len(p.Unsent()) == 0 {
		return nil
	}
	names := p.Unsent()
	what := "node " + names[0]
	if more := len(names) - 1; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return diag.On(what, "nothing of what Git has is sent: it is for another contract than that of the configuration there").
		WithHint("talosgen upgrade moves the nodes; until then, set talos.configContract in cluster.yaml to the contract that they have, and render again").
		WithCode(diag.Differences)
}

// unreachable is an error that names nodes of which nobody knows whether they are as
// they should be.
func unreachable(p *nodeplan.Plan) error {
	if p == nil {
		return nil
	}
	var problems diag.List
	for _, n := range p.Warnings {
		for _, name := range p.Unreachable {
			if n.Key == plan.Key("node/"+name) {
				problems.Add(diag.On("node "+name, "%s", n.Text).WithHint("%s", n.Hint).WithCode(diag.NotReady))
			}
		}
	}
	return problems.Err()
}
