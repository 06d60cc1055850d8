package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
	"github.com/talosgen/talosgen/internal/diag"
)

// Plan is what an upgrade would do if everything worked.
type Plan struct {
	Cluster string `json:"cluster"`
	// Rollback says that nodes go back to the Talos that they ran before.
	Rollback bool              `json:"rollback,omitempty"`
	Hops     []upgradepath.Hop `json:"hops,omitempty"`
	Steps    []Step            `json:"steps,omitempty"`
	Risks    []Risk            `json:"risks,omitempty"`
	// Why it must not begin.
	Refusals []Note `json:"refusals,omitempty"`
	// What keeps its versions, and why.
	Left []Note `json:"left,omitempty"`
	// The nodes that are not reached, and left for that.
	Unreachable []string `json:"away,omitempty"`
	// Why those of them are not reached that do not let talosgen in.
	Refused []Note `json:"accessDenied,omitempty"`
}

// Risk is something that takes consent.
type Risk struct {
	ID     string `json:"id"`
	Node   string `json:"node,omitempty"` // the first one
	Text   string `json:"text"`
	Agreed bool   `json:"agreed"`
}

// limit bounds the steps of a plan: more would be an error of this package.
const limit = 100000

// Make returns the plan. It holds what Next would return, one after the other, if
// each step worked and every risk was agreed to.
func Make(want Desired, seen Observed, policy Policy) *Plan {
	c := &forecast{plan: &Plan{Cluster: want.Cluster, Rollback: policy.Rollback}, want: want, seen: seen.clone(), policy: policy, agreed: policy.Allow}
	f := newFleet(want, &c.seen, policy)
	if !policy.Rollback {
		c.plan.Hops, _ = order{f}.hops() // why there is none, Next says
	}
	if slices.Contains(policy.Allow, RiskNoSnapshot) {
		c.risk(RiskNoSnapshot, "")
	}
	for range limit {
		if !c.next() {
			break
		}
	}
	c.cost(seen.Nodes)
	c.plan.leave(newFleet(want, &seen, policy))
	f = newFleet(want, &c.seen, policy)
	if c.plan.Left = slices.Concat(c.plan.Left, f.left(), c.plan.objects(seen)); policy.Rollback {
		c.plan.Left = returner{f}.older()
	}
	return c.plan
}

// Unreached is the error of a run that did all it could, and has left nodes that are not
// reached.
func Unreached(want Desired, seen Observed, policy Policy) error {
	p := &Plan{}
	p.leave(newFleet(want, &seen, policy))
	return p.LeftUnreached()
}

// leave notes the nodes that are not reached.
func (p *Plan) leave(f *fleet) {
	for _, n := range f.seen.Nodes {
		want, found := f.wanted(&n)
		if !found || n.Reached || !f.policy.concerns(want.Name) || f.policy.recycles(n) {
			continue
		}
		p.Unreachable = append(p.Unreachable, n.Name)
		if n.Refused != "" {
			p.Refused = append(p.Refused, n.shut("", "it does not let you in, and was left as it is"))
		}
	}
}

// forecast is a plan that is being made.
type forecast struct {
	plan    *Plan
	want    Desired
	seen    Observed
	policy  Policy // it grows by the risks that are met
	agreed  []string
	settled bool
}

// next adds what follows, and reports whether there is more.
func (c *forecast) next() bool {
	decision := Next(c.want, c.seen, c.policy)
	var refused []Note
	for _, note := range decision.Stop {
		if len(note.Risks) == 0 {
			refused = append(refused, note)
		}
		for _, id := range note.Risks {
			c.policy.Allow = append(slices.Clone(c.policy.Allow), id)
			c.risk(id, note.Node)
		}
	}
	switch {
	case len(refused) > 0 && decision.Phase == recycle && len(c.plan.Steps) > 0:
		c.plan.Left = append(c.plan.Left, refused...) // all else is done before
	case len(refused) > 0:
		c.plan.Refusals = refused
	case len(decision.Stop) > 0:
		return true // with consent now
	case len(decision.Steps) > 0:
		c.take(decision.Steps)
		return true
	case !c.settled && len(decision.Wait) > 0:
		c.settled = true
		c.seen.settle(c.policy.Soak)
		return true
	default:
		c.plan.Refusals = decision.Wait
	}
	return false
}

// take lets steps work.
func (c *forecast) take(steps []Step) {
	c.plan.Steps = append(c.plan.Steps, steps...)
	for _, s := range steps {
		for _, id := range s.Risks {
			c.risk(id, s.Node)
		}
		var want Want
		if n := c.seen.node(s.Node); n != nil {
			want, _ = newFleet(c.want, &c.seen, c.policy).wanted(n)
		}
		c.seen.after(s, want)
	}
}

func (c *forecast) risk(id, node string) {
	if !slices.ContainsFunc(c.plan.Risks, func(r Risk) bool { return r.ID == id }) {
		c.plan.Risks = append(c.plan.Risks, Risk{ID: id, Node: node, Text: c.meaning(id), Agreed: slices.Contains(c.agreed, id)})
	}
}

// meaning says what a risk is, and what it is about if its ID does not.
func (c *forecast) meaning(id string) string {
	switch {
	case id == RiskRemoved && len(clients(c.seen.Removed)) > 0:
		return meaning(id) + ": " + strings.Join(clients(c.seen.Removed), "; ")
	case id == RiskContract:
		return meaning(id) + ": " + strings.Join(c.moves(), ", ")
	}
	return meaning(id)
}

// moves are the places that the move to Git's contract changes besides, on any node.
func (c *forecast) moves() (places []string) {
	for _, n := range c.seen.Nodes {
		places = append(places, n.Moves...)
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// Nodes are those that something is done with.
func (p *Plan) Nodes() (names []string) {
	for _, s := range p.Steps {
		if s.Node != "" && !slices.Contains(names, s.Node) {
			names = append(names, s.Node)
		}
	}
	return names
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool { return len(p.Steps) == 0 }

// Executable reports whether nothing speaks against the plan, and all consent is there.
func (p *Plan) Executable() bool { return len(p.Refusals)+len(p.Missing()) == 0 }

// Missing are the ids of risks that are not agreed to.
func (p *Plan) Missing() (ids []string) {
	for _, r := range p.Risks {
		if !r.Agreed {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// objects says that Talos' own objects in Kubernetes keep their images, if it is not
// known which these are: nothing but an upgrade ever changes them. While control planes
// run several versions, that is asked later.
func (p *Plan) objects(seen Observed) []Note {
	if seen.Manifests != "" || !seen.Alike() {
		return nil
	}
	var to string
	for _, h := range p.Hops {
		if h.Component == upgradepath.Kubernetes {
			to = h.To
		}
	}
	if to == "" {
		return nil
	}
	return []Note{{Text: "Talos' own objects in Kubernetes (kube-proxy, CoreDNS, flannel) keep their images",
		Hint: fmt.Sprintf("when all else is done: `talosctl upgrade-k8s --to %s`", to)}}
}

// left is what does not have Git's versions when the upgrade is done.
func (f *fleet) left() (notes []Note) {
	for _, n := range f.seen.Nodes {
		want, found := f.wanted(&n)
		if known := (pair{Node: &n, recycled: f.policy.recycles(n)}).known(); found && known && Same(n.Talos, want.Talos) && Same(n.Kubelet, want.Kubernetes) {
			if !f.readable() && older(n.Contract, want.Contract) {
				notes = append(notes, Note{Node: n.Name, Text: "it keeps the contract of its configuration until every node runs a Talos that reads " + want.Contract})
			}
			continue
		}
		notes = append(notes, Note{Node: n.Name, Text: f.why(n, found) + ": it keeps " + n.runs()})
	}
	return notes
}

// runs is what the node runs, as far as it is known.
func (n Node) runs() string {
	talos, kubelet := "its Talos", "its Kubernetes"
	if n.Talos != "" {
		talos = "Talos v" + strings.TrimPrefix(n.Talos, "v")
	}
	if n.Kubelet != "" {
		kubelet = "Kubernetes " + n.Kubelet
	}
	return talos + " and " + kubelet
}

func (f *fleet) why(n Node, found bool) string {
	switch {
	case n.Autoscaled && (f.policy.Leaves(f.want.Pools[n.Pool]) || n.Ready && f.seen.Stale != ""):
		return "the autoscaler made it"
	case !found:
		return "Git does not have it"
	case n.Refused != "":
		return "it does not let you in: " + n.Refused
	case !n.Reached:
		return "it is not reached"
	case !f.policy.concerns(n.Name):
		return "it is not among the nodes that were named"
	}
	return "the upgrade ends before"
}

// LeftUnreached is the error of a run that did all it could, and has left nodes that are not
// reached.
func (p *Plan) LeftUnreached() error {
	var problems diag.List
	for _, n := range p.Refused {
		problems.Add(diag.On("node "+n.Node, "%s", n.Text).WithHint("%s", n.Hint).WithCode(diag.Secrets))
	}
	for _, name := range p.Unreachable {
		if slices.ContainsFunc(p.Refused, func(n Note) bool { return n.Node == name }) {
			continue
		}
		problems.Add(diag.On("node "+name, "it is not reached, and was left as it is").WithHint("see talosgen health; then run the same command again").WithCode(diag.NotReady))
	}
	return problems.Err()
}
