package cloud

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// Recreation is a node that only a new server can be as it is desired: servers neither
// move nor change their architecture, and disks never shrink.
type Recreation struct {
	Node string `json:"node"`
	Role string `json:"role"`
	Pool string `json:"pool,omitempty"`
	// What forces it; none if the configuration of the node does.
	Fields []Field `json:"fields,omitempty"`
	// Where the server is, if it is to be elsewhere.
	Location string `json:"location,omitempty"`
	// The volumes of the node that stay where it leaves, and are lost.
	Volumes []string `json:"volumes,omitempty"`
	// Whether the policy agrees to it. The plan then has a change that replaces the
	// server, which is made when the node has left the cluster.
	Allowed bool `json:"allowed"`
}

// Reasons are the fields that force it, as people read them: location fsn1 -> nbg1.
func (r Recreation) Reasons() (texts []string) {
	for _, f := range r.Fields {
		texts = append(texts, f.path()+" "+f.transition(Update))
	}
	return texts
}

// ControlPlane reports whether the node is one.
func (r Recreation) ControlPlane() bool { return r.Role == schemas.RoleControlPlane }

// Recreates reports whether the change makes the server of a node anew.
func (p *Plan) Recreates(c Change) bool {
	return c.Action == Replace && c.Kind == KindServer &&
		slices.ContainsFunc(p.Recreate, func(r Recreation) bool { return r.Allowed && r.Node == c.Name })
}

// Waiting are the nodes that wait for consent to be made anew, with what forces it, and
// how it is given.
func (p *Plan) Waiting() (notes []plan.Note) {
	for _, r := range p.Recreate {
		if !r.Allowed {
			text := strings.Join(r.Reasons(), ", ")
			for _, name := range r.Volumes {
				text += "; its volume " + name + " stays in " + r.Location + ", and is lost"
			}
			notes = append(notes, plan.Note{Key: plan.Key("node/" + r.Node), Text: text, Hint: r.hint()})
		}
	}
	return notes
}

// hint says how to agree that the node is made anew.
func (r Recreation) hint() string {
	of := cmp.Or(r.Pool, r.Node)
	way := "--allow " + plan.RecreateKey + of
	if len(r.Volumes) > 0 {
		way += " --allow " + plan.VolumesKey + of
	}
	if r.Pool == "" {
		return way
	}
	return way + ", or with the name of one node"
}

// recreates reports whether a node is made anew with what somebody agreed to. That it
// waits for consent keeps nothing else of the plan from being executed.
func (p *servers) recreates(want schemas.InfraServer, have *Server) bool {
	fields := p.onlyNew(want, have)
	if !node(want) || len(fields) == 0 && !slices.Contains(p.policy.Rebuild, want.Name) {
		return false
	}
	r := Recreation{Node: want.Name, Role: want.Role, Pool: want.Pool, Fields: fields,
		Volumes: p.behind(want, have)}
	r.Allowed = p.policy.Recreates(want.Name, want.Pool) && !slices.Contains(p.policy.Keep, want.Name) &&
		(len(r.Volumes) == 0 || p.policy.LosesVolumes(want.Name, want.Pool))
	if len(want.Locations) > 0 && !slices.Contains(want.Locations, have.Location) {
		r.Location = have.Location
	}
	p.plan.Recreate = append(p.plan.Recreate, r)
	return r.Allowed
}

// onlyNew are the fields that the server of a node never gets. Where it is to move, its
// type changes with that.
func (p *servers) onlyNew(want schemas.InfraServer, have *Server) (fields []Field) {
	if !node(want) {
		return nil
	}
	moves := len(want.Locations) > 0 && !slices.Contains(want.Locations, have.Location)
	if moves {
		fields = append(fields, Field{Name: FieldLocation, from: have.Location, to: words(want.Locations), Class: Replacement, Reason: "a server cannot move"})
	}
	if len(want.Types) == 0 || slices.Contains(want.Types, have.Type) {
		return fields
	}
	_, problems := p.becomes(want, have)
	if moves || len(problems) == len(want.Types) {
		fields = append(fields, Field{Name: FieldType, from: have.Type, to: words(want.Types), Class: Replacement, Reason: strings.Join(problems, "; ")})
	}
	return fields
}

// becomes are the types that a server can be given where it is, best first, and why it
// cannot be given the others.
func (p *servers) becomes(want schemas.InfraServer, have *Server) (found []Candidate, problems []string) {
	for _, name := range want.Types {
		if why := p.cannotBecome(name, have); why != "" {
			problems = append(problems, why)
			continue
		}
		found = append(found, Candidate{Type: name, Location: have.Location, Available: p.observed.Catalogue.available(name, have.Location)})
	}
	sorting.By(found, func(a, b Candidate) int { return rank(a) - rank(b) })
	return found, problems
}

// reasonOf says why a server is made again.
func (p *servers) reasonOf(want schemas.InfraServer) string {
	lost := "; its disk and public addresses are lost"
	if p.addressIn(want) != "" {
		lost = "; its disk is lost"
	}
	i := slices.IndexFunc(p.plan.Recreate, func(r Recreation) bool { return r.Allowed && r.Node == want.Name })
	if i < 0 {
		return "requested with --replace" + lost
	}
	if reasons := p.plan.Recreate[i].Reasons(); len(reasons) > 0 {
		return "only a new server has " + strings.Join(reasons, " and ") + lost
	}
	return "only a new machine has what Git says" + lost
}
