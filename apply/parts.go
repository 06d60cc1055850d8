package apply

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// part is what of a plan is executed.
type part func(*cloudplan.Plan) *cloudplan.Plan

func whole(p *cloudplan.Plan) *cloudplan.Plan { return p }

// all is every node.
func all(string) bool { return true }

// holding leaves out that servers of some nodes are deleted or made anew, or volumes that
// they have, and what has to wait for that: these nodes have not left the cluster, or use
// the volume.
func holding(nodes func(name string) bool) part {
	return without(func(p *cloudplan.Plan, c cloudplan.Change) bool {
		if at := mounted(p, c); at != "" {
			return nodes(at)
		}
		return (endsNode(p, c) || p.Recreates(c)) && nodes(c.Name)
	})
}

// mounted is the node that a volume is deleted of, which has it until its configuration
// says otherwise; empty for other changes.
func mounted(p *cloudplan.Plan, c cloudplan.Change) string {
	if c.Kind != cloudplan.KindVolume || c.Action != cloudplan.Delete || p.Destroy {
		return ""
	}
	for _, v := range p.Observed.Volumes {
		for _, s := range p.Observed.Servers {
			if v.ID == c.ID && s.ID == v.Server {
				return s.Name
			}
		}
	}
	return ""
}

// standing is a part in which no server of a node is made anew: each has its own turn.
func standing(of part) part {
	held := without((*cloudplan.Plan).Recreates)
	return func(p *cloudplan.Plan) *cloudplan.Plan { return held(of(p)) }
}

// without leaves out some changes, and what has to wait for them.
func without(out func(*cloudplan.Plan, cloudplan.Change) bool) part {
	return func(p *cloudplan.Plan) *cloudplan.Plan {
		held := map[plan.Key]bool{}
		for more := true; more; {
			more = false
			for _, c := range p.Changes {
				waits := slices.ContainsFunc(c.Needs, func(k plan.Key) bool { return held[k] })
				if !held[c.Key] && (waits || out(p, c)) {
					held[c.Key], more = true, true
				}
			}
		}
		first := *p
		first.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(c cloudplan.Change) bool { return held[c.Key] })
		return &first
	}
}

// endsNode reports whether a change deletes the server of a node.
func endsNode(p *cloudplan.Plan, c cloudplan.Change) bool {
	return c.Kind == cloudplan.KindServer && c.Action == cloudplan.Delete && slices.ContainsFunc(p.Observed.Servers, func(o cloudplan.Server) bool {
		return o.ID == c.ID && rolesOfNodes[schemas.RoleOf(o.Labels)] != ""
	})
}

// nothing is a plan of the infrastructure that leaves it as it is.
func nothing(p *cloudplan.Plan) *cloudplan.Plan {
	left := *p
	left.Changes, left.Refusals = nil, nil
	return &left
}

// within is the part of the infrastructure that a policy is about. A server of a
// node is not deleted before the node has left the cluster.
func within(p *cloudplan.Plan, policy Policy) *cloudplan.Plan {
	switch {
	case !policy.has(StageInfrastructure):
		return nothing(p)
	case !policy.has(stageNodes):
		return holding(all)(p)
	}
	return holding(policy.skips)(p)
}

// toCreate are the servers that a plan makes, but for those that are made anew in turn.
func toCreate(p *cloudplan.Plan) (names []string) {
	for _, c := range p.Changes {
		if c.Kind == cloudplan.KindServer && (c.Action == cloudplan.Create || c.Action == cloudplan.Replace) && !p.Recreates(c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// allKnown makes sure that names are those of nodes that are known.
func allKnown(names, known []string) error {
	var problems diag.List
	for _, name := range names {
		if !slices.Contains(known, name) {
			problems.Add(diag.On("node "+name, "the cluster has no such node").WithHint("%s", diag.Suggest(name, known)).WithCode(diag.Usage))
		}
	}
	return problems.Err()
}
