// Package ownership says who creates or manages which object of a cluster, and
// which objects have two owners: Talos' own manifests, what talosgen applies,
// each Kustomization and HelmRelease of Flux, each Application of Argo CD, and the
// resources of a Terraform plan. It is pure: everything comes as values.
//
// Two owners of one object undo each other's changes, or leave behind what
// neither removes. So do two that play the same part though their objects have
// other names, such as two network plugins.
package ownership

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sorting"
)

// Manager is a system that creates objects and keeps them.
type Manager string

// The managers.
const (
	Talos         Manager = "Talos"
	Talosgen      Manager = "talosgen"
	Kustomization Manager = "Kustomization"
	HelmRelease   Manager = "HelmRelease"
	Application   Manager = "Application" // of Argo CD
	Terraform     Manager = "Terraform"
)

// Owner is a manager's part that has objects: a Kustomization by its namespace
// and name, an addon that talosgen applies, a resource of Terraform by its
// address.
type Owner struct {
	Manager Manager `json:"manager"`
	Name    string  `json:"name"`
}

// String is such as: Kustomization flux-system/apps.
func (o Owner) String() string { return strings.TrimSuffix(string(o.Manager)+" "+o.Name, " ") }

// Thing is what is owned: an object, or a part that only one may play.
type Thing struct {
	Role   Role
	Object manifest.ID
}

// String is the object as [manifest.ID.String] writes it, or what the part is.
func (t Thing) String() string {
	if t.Role != "" {
		return string(t.Role)
	}
	return t.Object.String()
}

// Claim is that an owner has something.
type Claim struct {
	Thing Thing
	Owner Owner
	// Who plays the part, such as cilium, for a claim of a role.
	Player string
	// Where it says so.
	Pos diag.Pos
}

// Conflict is a thing with several claims that do not go together.
type Conflict struct {
	Thing  Thing
	Claims []Claim // by owner; at least two
}

// Conflicts finds what has two owners, or is there twice for one: the network
// plugin first, then other parts, then objects by kind and name.
func Conflicts(claims []Claim) []Conflict {
	byThing := map[Thing][]Claim{}
	for _, c := range claims {
		if !slices.Contains(byThing[c.Thing], c) {
			byThing[c.Thing] = append(byThing[c.Thing], c)
		}
	}
	var conflicts []Conflict
	for thing, of := range byThing {
		if thing.Role != "" {
			of = players(of)
		}
		if len(of) < 2 {
			continue
		}
		sorting.By(of, compareClaims)
		conflicts = append(conflicts, Conflict{thing, of})
	}
	sorting.By(conflicts, func(a, b Conflict) int { return compareThings(a.Thing, b.Thing) })
	return conflicts
}

// players leaves one claim for each owner and player of a part: several objects
// of one player show that it plays.
func players(claims []Claim) (distinct []Claim) {
	for _, c := range claims {
		if !slices.ContainsFunc(distinct, func(d Claim) bool { return d.Owner == c.Owner && d.Player == c.Player }) {
			distinct = append(distinct, c)
		}
	}
	return distinct
}

func compareClaims(a, b Claim) int {
	return slices.Compare(a.key(), b.key())
}

func (c Claim) key() []string {
	return []string{string(c.Owner.Manager), c.Owner.Name, c.Player, c.Pos.File, c.Pos.String()}
}

// compareThings puts parts before objects, in the order of [Roles].
func compareThings(a, b Thing) int {
	if d := rank(a) - rank(b); d != 0 {
		return d
	}
	return strings.Compare(a.String(), b.String())
}

func rank(t Thing) int {
	if i := slices.Index(Roles, t.Role); i >= 0 {
		return i
	}
	return len(Roles)
}
