package recreate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/sorting"
)

// Volume is a volume that a node takes along, or that stays in a location that it leaves.
type Volume struct {
	// Its claim, and the pods of the node that use it, with their namespaces. Without a
	// claim nobody knows whether there is one.
	Claim string   `json:"claim"`
	Pods  []string `json:"pods,omitempty"`
	// The name in Hetzner Cloud, if it is one that the node has for itself.
	Name string `json:"name,omitempty"`
	// Whether it is on a disk of the node, and so lost; else it is a volume of the location.
	Local    bool   `json:"local,omitempty"`
	Location string `json:"location,omitempty"`
}

// String says what becomes of it.
func (v Volume) String() string {
	if v.Name != "" {
		return "its volume " + v.Name + " stays in " + v.Location + ", and is deleted with what is on it"
	}
	if v.Claim == "" {
		return "which volumes go with it is not known"
	}
	text := "the volume of claim " + v.Claim + " is on its disk, and lost"
	if !v.Local {
		text = "the volume of claim " + v.Claim + " stays in " + v.Location + ", where pods need a node"
	}
	if len(v.Pods) > 0 {
		text += " (pods " + strings.Join(v.Pods, ", ") + ")"
	}
	return text
}

// Bound is a persistent volume as Kubernetes has it.
type Bound struct {
	Claim string
	// The nodes, or the locations, that alone have it; none: it is on a disk of whatever
	// node its pods run on, or anywhere.
	Nodes, Locations []string
	// Whether it is on a disk of the node that its pods run on.
	HostPath bool
	// The pods that use it, by their nodes.
	Pods map[string][]string
}

// Lose notes which volumes nodes take along or leave behind.
func (p *Plan) Lose(volumes []Bound) {
	for i := range p.Nodes {
		n := &p.Nodes[i]
		for _, v := range volumes {
			pods := v.Pods[n.Name]
			switch {
			case slices.Contains(v.Nodes, n.Name), v.HostPath && len(v.Nodes) == 0 && len(pods) > 0:
				n.Volumes = append(n.Volumes, Volume{Claim: v.Claim, Pods: pods, Local: true})
			case n.location != "" && slices.Contains(v.Locations, n.location) && len(pods) > 0:
				n.Volumes = append(n.Volumes, Volume{Claim: v.Claim, Pods: pods, Location: n.location})
			}
		}
		sorting.By(n.Volumes, func(a, b Volume) int { return cmp.Or(cmp.Compare(a.Claim, b.Claim), cmp.Compare(a.Name, b.Name)) })
	}
}

// Unknown notes that Kubernetes does not say which volumes nodes have: then it takes
// consent as if each had one.
func (p *Plan) Unknown(why string) {
	for i := range p.Nodes {
		p.Nodes[i].Volumes = append(p.Nodes[i].Volumes, Volume{})
		p.Warnings = append(p.Warnings, plan.Note{Key: plan.Key("node/" + p.Nodes[i].Name),
			Text: "which volumes go with it is not known: " + why, Hint: "bring the Kubernetes API back first"})
	}
}
