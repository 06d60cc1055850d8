package cloud

import (
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Make compares what is desired with what was observed. An error means that
// the input cannot be compared; what must not be done is in Refusals.
func Make(desired schemas.Infrastructure, observed Observed, policy plan.Consent) (*Plan, error) {
	p, err := newPlanner(desired, observed, policy)
	if err != nil {
		return nil, err
	}
	switch desired.Provider {
	case schemas.Static:
	case schemas.Hetzner:
		p.compare()
	default:
		return nil, diag.On("infrastructure.yaml", "there is no provider %q", desired.Provider)
	}
	p.oneAtATime(p.observed)
	return p.finish()
}

// planner is what objects of all kinds are planned with: what is desired and
// observed, whose it is, and the plan that grows. Each kind has a type of its own.
type planner struct {
	*changeSet
	*claims
	attachment
	desired  *schemas.Infrastructure
	observed *Observed
	owner    owner
}

func newPlanner(desired schemas.Infrastructure, observed Observed, policy plan.Consent) (*planner, error) {
	if desired.Cluster == "" {
		return nil, diag.On("infrastructure.yaml", "the cluster has no name")
	}
	made := &Plan{Cluster: desired.Cluster, Desired: withKept(desired, &observed), inGit: desired, Observed: observed, policy: policy}
	p := &planner{
		changeSet: &changeSet{plan: made, policy: policy},
		claims:    &claims{used: map[plan.Key]bool{}, ids: map[plan.Key]int64{}, full: map[int64]bool{}},
		desired:   &made.Desired, observed: &made.Observed,
	}
	p.owner = newOwner(p.desired, p.observed)
	p.withAdopted()
	p.attachment = findAttachment(p.desired.Network, p.observed.Networks, p.owner, policy.Adopt)
	return p, nil
}

// compare plans the changes of all kinds. Servers need to know the ids of what
// they are in and behind; records and subnets that go need to know all changes.
func (p *planner) compare() {
	images := &images{p}
	usable := (&networks{p}).compare()
	subnets := &subnets{p}
	if usable {
		subnets.compare()
		(&routes{p}).compare()
	}
	(&firewalls{p}).compare()
	(&groups{p}).compare()
	(&floatingIPs{p}).compare()
	images.compare()
	(&servers{p, images}).compare()
	(&primaryIPs{p}).compare()
	(&volumes{p}).compare()
	(&balancers{p}).compare()
	(&records{p}).compare()
	subnets.deleteStale()
}

// finish orders the changes and adds what follows from all of them.
func (p *planner) finish() (*Plan, error) {
	if err := p.order(); err != nil {
		return nil, err
	}
	p.plan.Cost = (&costs{planner: p}).sum()
	p.plan.Reads = reader{p.attachment, p.observed}.reads(p.plan.Changes, p.ids)
	return p.plan, nil
}

// object is anything with an id, a name and labels.
type object interface{ meta() Meta }

func (m Meta) meta() Meta { return m }
