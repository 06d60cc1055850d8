package preflight

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

func token(in *Input) []Finding {
	switch in.TokenWrites {
	case Yes:
		return []Finding{fine("it is valid and may write")}
	case No:
		return []Finding{failed("make a token with the permission Read & Write in Hetzner's console", "it may only read")}
	default:
		return []Finding{fine("it is valid; whether it may write shows with the first write")}
	}
}

// name looks for another cluster of the same name: something with the label of
// the cluster that is not talosgen's, and does not become so. What others made beside the
// servers of a cluster that was adopted stays.
func name(in *Input) (found []Finding) {
	other := func(kind cloudplan.Kind, m cloudplan.Meta) {
		by := m.Labels[schemas.LabelManagedBy]
		if m.Labels[schemas.LabelCluster] != in.Plan.Cluster || by == schemas.ManagedBy || m.Labels[schemas.LabelNodeGroup] != "" || by == "csi-driver" {
			return
		}
		if takenOver(in.Plan, kind, m.ID) || in.Plan.Desired.KeepOthers && kind != cloudplan.KindServer {
			return
		}
		found = append(found, failed("choose another name, or remove the label cluster from it",
			"%s has the label cluster=%s, but is not managed by talosgen (id %d)", cloudplan.KeyOf(kind, m.Name), in.Plan.Cluster, m.ID))
	}
	o := &in.Plan.Observed
	for _, n := range o.Networks {
		other(cloudplan.KindNetwork, n.Meta)
	}
	for _, f := range o.Firewalls {
		other(cloudplan.KindFirewall, f.Meta)
	}
	for _, b := range o.LoadBalancers {
		other(cloudplan.KindLoadBalancer, b.Meta)
	}
	for _, g := range o.PlacementGroups {
		other(cloudplan.KindPlacementGroup, g.Meta)
	}
	for _, f := range o.FloatingIPs {
		other(cloudplan.KindFloatingIP, f.Meta)
	}
	for _, s := range o.Servers {
		other(cloudplan.KindServer, s.Meta)
	}
	return found
}

// takenOver reports whether a plan makes an object the cluster's.
func takenOver(p *cloudplan.Plan, kind cloudplan.Kind, id int64) bool {
	return slices.ContainsFunc(p.Changes, func(c cloudplan.Change) bool {
		return c.Kind == kind && c.ID == id && c.Action == cloudplan.Update
	})
}

func refusals(in *Input) (found []Finding) {
	for _, n := range in.Plan.Refusals {
		text := n.Text
		if n.Key != "" {
			text = fmt.Sprintf("%s: %s", n.Key, n.Text)
		}
		found = append(found, failed(n.Hint, "%s", text))
	}
	return found
}

// types says where the servers that are to be made can be had now.
func types(in *Input) (found []Finding) {
	need := map[string]int{} // by what there is to choose from
	free := map[string]bool{}
	for _, c := range in.Plan.Changes {
		if c.Kind != cloudplan.KindServer || len(c.Candidates) == 0 {
			continue
		}
		var there []string
		for _, o := range c.Candidates {
			if o.Available {
				there = append(there, o.Type+" in "+o.Location)
			}
		}
		choice := strings.Join(there, ", ")
		if choice == "" {
			choice = "none of " + c.Candidates[0].Type + " and what may take its place"
		}
		need[choice]++
		free[choice] = len(there) > 0
	}
	for _, choice := range slices.Sorted(maps.Keys(need)) {
		if free[choice] {
			found = append(found, fine("for %s: %s", servers(need[choice]), choice))
		} else {
			found = append(found, warning("add types or locations to fall back to, or try later", "for %s Hetzner has %s now", servers(need[choice]), choice))
		}
	}
	return found
}

func servers(n int) string {
	if n == 1 {
		return "1 server"
	}
	return fmt.Sprintf("%d servers", n)
}

func images(in *Input) (found []Finding) {
	for _, c := range in.Plan.Changes {
		if c.Kind == cloudplan.KindImage && c.Action == cloudplan.Create {
			text := plan.Brief(c.Name) + " is made first"
			if len(c.Candidates) > 0 {
				text += fmt.Sprintf(", with a %s in %s", c.Candidates[0].Type, c.Candidates[0].Location)
			}
			found = append(found, fine("%s", text))
		}
	}
	return append(found, CheckExtensions(in.Extensions)...)
}

// ranges finds servers that are in another network too, with addresses that
// mean two things there.
func ranges(in *Input) (found []Finding) {
	want := in.Plan.Desired.Network
	if want == nil {
		return nil
	}
	ours, err := netip.ParsePrefix(want.IPRange)
	if err != nil {
		return []Finding{failed("render again", "%q is no range", want.IPRange)}
	}
	o := &in.Plan.Observed
	for _, s := range o.Servers {
		if s.Labels[schemas.LabelCluster] != in.Plan.Cluster {
			continue
		}
		for _, a := range s.PrivateNets {
			i := slices.IndexFunc(o.Networks, func(n cloudplan.Network) bool { return n.ID == a.Network })
			if i < 0 || o.Networks[i].Name == want.Name || o.Networks[i].ID == want.ExistingID {
				continue
			}
			if p, err := netip.ParsePrefix(o.Networks[i].IPRange); err == nil && p.Overlaps(ours) {
				found = append(found, failed("detach it there, or choose another range",
					"server/%s is also in the network %s, whose range %s overlaps %s", s.Name, o.Networks[i].Name, p, ours))
			}
		}
	}
	return found
}
