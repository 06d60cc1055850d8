package upgrade

import (
	"fmt"
	"slices"
	"strings"
)

// recycle is the name of the phase in which nodes of the autoscaler are deleted.
const recycle = "recycle"

// recycling is the phase after all others: nodes of the autoscaler that do not have Git's
// versions are deleted, and it makes others.
func (f order) recycling() []phase {
	if f.policy.Autoscaled != Recycle {
		return nil
	}
	goal := f.goal()
	p := phase{group: autoscaled, recycle: true, talos: goal.Talos, kubernetes: goal.Kubernetes}
	switch f.policy.Component {
	case OnlyTalos:
		p.kubernetes = ""
	case OnlyKubernetes:
		p.talos = ""
	}
	return []phase{p}
}

// discard deletes the server of a node, which was drained, or is cordoned.
func (f *fleet) discard(n pair, p phase) Step {
	s := f.deleted(n)
	s.Hop, s.Risks, s.Evict = p.name(), f.risks(n, p), !n.Drained
	return s
}

// deleted deletes the server of a node, whose pods have left.
func (f *fleet) deleted(n pair) Step {
	return Step{Action: Delete, Node: n.Name, Group: n.want.Group}
}

// stale refuses to delete what the autoscaler would make again as it was.
func (f refuser) stale(p phase) []Note {
	if !p.recycle || f.seen.Stale == "" {
		return nil
	}
	return []Note{{ID: "R12", Text: f.seen.Stale, Hint: "run talosgen apply first, and then the same command again"}}
}

// cost adds to the risk of deleting servers which servers these are.
func (c *forecast) cost(seen []Node) {
	i := slices.IndexFunc(c.plan.Risks, func(r Risk) bool { return r.ID == RiskRecycle })
	if i < 0 {
		return
	}
	var kinds, texts []string
	count := map[string]int{}
	for _, s := range c.plan.Steps {
		if at := slices.IndexFunc(seen, func(n Node) bool { return n.Name == s.Node }); s.Action == Delete && at >= 0 {
			kind := c.want.Pools[seen[at].Pool].Server
			if count[kind]++; count[kind] == 1 {
				kinds = append(kinds, kind)
			}
		}
	}
	for _, kind := range kinds {
		texts = append(texts, strings.TrimSpace(fmt.Sprintf("%d %s", count[kind], kind)))
	}
	c.plan.Risks[i].Text += ": " + strings.Join(texts, ", ")
}
