package apply

import (
	"context"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// drift says what apply must do at nodes before an upgrade may begin: nodes join, or the
// cluster is not there yet. Changes of configurations may come before or after.
func (n *nodeStage) drift(ctx context.Context, c *nodes.Cluster) ([]string, error) {
	p, err := n.make(ctx, c, nodeplan.Policy{}, nil)
	if err != nil {
		return nil, err
	}
	return driftOf(p), nil
}

// driftOf reads a plan of nodes.
func driftOf(p *nodeplan.Plan) (texts []string) {
	for _, s := range p.Steps {
		switch {
		case s.Action == nodeplan.Bootstrap:
			texts = append(texts, "etcd is not bootstrapped")
		case s.Action == nodeplan.Configure && len(s.Changes) == 0:
			texts = append(texts, "node "+s.Node+" has no configuration yet")
		case s.Action == nodeplan.Join:
			texts = append(texts, "node "+s.Node+" does not vote in etcd yet")
		}
	}
	return texts
}
