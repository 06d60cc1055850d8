package apply

import (
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/review"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Objects is what becomes of each object that does not stay as it is, by a saved plan; file
// is its name, for errors. A plan that was made for another infrastructure than that of
// the tree is refused.
func (s *Saved) Objects(file string, tree schemas.Infrastructure) (map[plan.Key]string, error) {
	pos := diag.Pos{File: file}
	if s.Plan.Cluster != tree.Cluster {
		return nil, diag.New(pos, "the plan is for the cluster %s, the tree for %s", s.Plan.Cluster, tree.Cluster).WithCode(diag.Usage)
	}
	if s.Desired != plan.DigestOf(tree) {
		return nil, diag.New(pos, "the infrastructure in the tree is another than when the plan was made").WithHint(plan.MakeAgain).WithCode(diag.Conflict)
	}
	r := review.Review{Cloud: s.Plan}
	if s.Nodes != nil {
		r.Nodes = s.Nodes.Plan
	}
	if s.Kubernetes != nil {
		r.Kubernetes = s.Kubernetes.Plan
	}
	return r.Objects(), nil
}
