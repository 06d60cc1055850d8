package apply

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/review"
	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/schemas"
)

// leftOpen are notes about access that is open beside the rules of the tree: an
// operator has opened it, or another run has and has not closed it yet.
func (c *cloudStage) leftOpen(o cloudplan.Observed) (notes []plan.Note) {
	for _, f := range o.Firewalls {
		access, found := c.project.ReadAccess(f)
		if !found || c.open.is(f.Name) {
			continue
		}
		n := plan.Note{
			Key:  cloudplan.KeyOf(cloudplan.KindFirewall, f.Name),
			Text: "session access of another run: it is at work, or has ended without closing it",
			Hint: "the next `talosgen apply` removes what dead runs have left",
		}
		if access.Stays {
			n.Text, n.Hint = access.String(), "`talosgen access close "+c.env.name+"` ends it"
		}
		notes = append(notes, n)
	}
	return notes
}

// otherProject is a note that the token may be of another project: it is not the one
// in the tree, and the project that it leads to has nothing of the cluster.
func (c *cloudStage) otherProject(o cloudplan.Observed) []plan.Note {
	cluster := c.env.Infrastructure.Cluster
	of := func(labels map[string]string) bool { return labels[schemas.LabelCluster] == cluster }
	known := slices.ContainsFunc(o.Servers, func(s cloudplan.Server) bool { return of(s.Labels) }) ||
		slices.ContainsFunc(o.Networks, func(n cloudplan.Network) bool { return of(n.Labels) }) ||
		slices.ContainsFunc(o.Firewalls, func(f cloudplan.Firewall) bool {
			return of(f.Labels) && f.Labels[schemas.LabelComponent] != schemas.ComponentLock && f.Labels[schemas.LabelComponent] != schemas.ComponentSession
		})
	if !c.otherToken || known {
		return nil
	}
	return []plan.Note{{
		Key:  review.Project,
		Text: "$HCLOUD_TOKEN is not the token in the tree, and its project has nothing of the cluster " + cluster + ": is it the right project?",
		Hint: "unset it to use the token in the tree; for a new cluster, or after the token was changed, `talosgen secrets sync` and a render bring them together",
	}}
}

// ClosedToAll warns of APIs of the cluster that nobody reaches once apply has
// ended, because its firewall has no rule for them. It asks nobody.
func (e *Environment) ClosedToAll() []preflight.Finding {
	return preflight.ClosedToAll(&e.Infrastructure)
}

// staying is a note that machines which exist already are no part of what is destroyed.
func (c *cloudStage) staying() (notes []plan.Note) {
	if c.project == nil {
		return nil
	}
	for _, m := range c.env.Infrastructure.Machines {
		notes = append(notes, plan.Note{
			Key:  plan.Key("node/" + m.Name),
			Text: "the dedicated server stays as it is, with its configuration and its data",
			Hint: "`talosgen reset " + c.env.name + " " + m.Name + "` wipes it, as long as the cluster is there",
		})
	}
	return notes
}
