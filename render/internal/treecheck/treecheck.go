// Package treecheck looks at a whole tree of manifests before anything is
// applied: does each object fit its kind, does everything lead somewhere that
// is named, and does each object have one owner.
package treecheck

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/followed"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/kubeschema"
	"github.com/talosgen/talosgen/render/internal/ownership"
	"github.com/talosgen/talosgen/render/internal/references"
)

// Input is what is looked at.
type Input struct {
	// The repository of talosgen.
	Repository fs.FS
	// A rendered tree, or any directory with manifests.
	Dir      string
	Rendered bool
	// The version of Kubernetes; empty: the one that control planes in the tree
	// run, or else Newest.
	Kubernetes string
	// A plan of Terraform as JSON, and its name; may be nil.
	Terraform     []byte
	TerraformFile string
	// What programs in the cluster make: patterns of names.
	Makes []string
	// What is right, whatever is found.
	Ignore []Ignore
	// Builds a directory with a kustomization.yaml that does more than list
	// resources.
	Build func(dir string) ([]manifest.Located, error)
}

// Newest is the latest version of Kubernetes whose kinds are known.
const Newest = versions.KubernetesKinds

// Report is what was found.
type Report struct {
	Kubernetes string
	// Everything that somebody creates or manages, by name, with who does.
	Claims []ownership.Claim
	// What is wrong with single objects, and with what they refer to.
	Problems diag.List
	// What has two owners.
	Conflicts []ownership.Conflict
	// What was found and is to be left out.
	Ignored []Ignored
	// Kinds that no schema is known of, sorted, and other things that were not
	// looked at.
	Notes []string
	// How many objects were checked.
	Objects int
}

type checker struct {
	in     Input
	files  *files
	place  followed.Tree   // where what is looked at is in the repository that is followed
	inside map[string]bool // directories that are being built
	notes  []string

	machines  []ownership.Machine // control planes
	objects   []manifest.Located  // all that are written down, once
	claims    []ownership.Claim
	problems  diag.List
	ignored   []Ignored
	later     int                  // fields that are not known before Flux applies them
	used      map[int]bool         // which of what is to be left out is there
	elsewhere map[manifest.ID]bool // Kustomizations that apply from another repository
	unwritten []manifest.ID        // the source of this repository, if it is made by other means
	excepted  map[exception]bool   // those that objects have, and whether something is wrong there
}

// Check looks at a tree. What is wrong in it is in the report; an error is that
// it could not be looked at.
func Check(in Input) (*Report, error) {
	c := &checker{in: in, files: newFiles(in.Repository), inside: map[string]bool{}, excepted: map[exception]bool{}, elsewhere: map[manifest.ID]bool{}, used: map[int]bool{}}
	if !c.files.isDir(in.Dir) {
		return nil, diag.New(diag.Pos{File: in.Dir}, "there is no such directory").WithCode(diag.Usage)
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	c.place = c.followed()
	c.findElsewhere()
	c.noteSeveral()
	if err := c.own(); err != nil {
		return nil, err
	}
	r := &Report{Kubernetes: c.kubernetes(), Claims: c.claims, Conflicts: c.conflicts(), Objects: len(c.objects)}
	if err := c.schemas(r); err != nil {
		return nil, err
	}
	c.references()
	if c.later > 0 {
		c.notes = append(c.notes, fmt.Sprintf("%d fields have ${…} in them, which Flux puts in when it applies them: they were not checked", c.later))
	}
	c.noteUnneeded()
	c.noteUnused()
	r.Problems, r.Ignored = c.problems, c.ignored
	r.Notes = append(r.Notes, c.notes...)
	slices.Sort(r.Notes)
	r.Notes = slices.Compact(r.Notes)
	return r, nil
}

// load reads all files. Parts of what kustomizations build are no objects, and neither are
// configurations of machines.
func (c *checker) load() error {
	names, err := c.files.below(c.in.Dir, nil)
	if err != nil {
		return err
	}
	parts, err := c.parts()
	if err != nil {
		return err
	}
	for _, name := range names {
		if m, ok := c.machine(name); ok {
			if isControlPlane(m) {
				c.machines = append(c.machines, m)
			}
			continue
		}
		if parts[name] || c.in.Rendered && !strings.Contains(strings.TrimPrefix(name, c.in.Dir+"/"), "/") {
			continue
		}
		objects, err := c.files.objects(name)
		c.problems.AddErr(err)
		c.objects = append(c.objects, objects...)
	}
	return nil
}

// followed is where a rendered tree is in the repository that Flux or Argo CD follows.
func (c *checker) followed() followed.Tree {
	if !c.in.Rendered {
		return followed.Tree{}
	}
	var objects []manifest.Object
	for _, o := range c.objects {
		below := strings.TrimPrefix(o.Pos.File, c.in.Dir+"/")
		if strings.HasPrefix(below, "flux/") || strings.HasPrefix(below, "bootstrap/argocd/") {
			objects = append(objects, o.Object)
		}
	}
	return followed.Of(c.in.Dir, objects)
}

// applied is what an engine applies from a directory of the repository that it follows.
func (c *checker) applied(dir string) ([]manifest.Located, error) {
	local, known := c.place.Local(dir)
	if !known {
		c.notes = append(c.notes, dir+" is outside of this repository, it was not looked at")
		return nil, nil
	}
	return c.kustomize(local)
}

// isDirectory tells whether the repository that is followed has a directory, as far as
// it is here.
func (c *checker) isDirectory(dir string) bool {
	local, known := c.place.Local(dir)
	return !known || c.files.isDir(local)
}

// own finds out who has which objects.
func (c *checker) own() error {
	for _, m := range c.machines {
		claims, err := ownership.OfTalos(m)
		c.problems.AddErr(err)
		c.claims = append(c.claims, unseen(c.claims, claims)...)
	}
	bootstrap := path.Join(c.in.Dir, "bootstrap") + "/"
	var watched []manifest.Located
	for _, o := range c.objects {
		// The Application that all others come from is in there, too.
		argo, err := ownership.OfArgoCD([]manifest.Located{o}, c.applied)
		c.problems.AddErr(err)
		c.claims = append(c.claims, argo...)
		below, found := strings.CutPrefix(o.Pos.File, bootstrap)
		if c.elsewhere[o.ID()] {
			continue
		}
		if !found || !c.in.Rendered {
			watched = append(watched, o)
			continue
		}
		addon, _, _ := strings.Cut(below, "/")
		c.claims = append(c.claims, ownership.OfObject(o.Object, ownership.Claim{
			Owner: ownership.Owner{Manager: ownership.Talosgen, Name: "bootstrap/" + addon}, Pos: o.Pos})...)
	}
	claims, err := ownership.OfFlux(watched, c.applied)
	c.problems.AddErr(err)
	c.claims = append(c.claims, claims...)
	if c.in.Terraform == nil {
		return nil
	}
	claims, err = ownership.OfTerraform(c.in.TerraformFile, c.in.Terraform, manifest.Parse)
	c.claims = append(c.claims, claims...)
	return err
}

// unseen are the claims that control planes do not make already: they all have
// the same manifests.
func unseen(claims, more []ownership.Claim) (fresh []ownership.Claim) {
	for _, m := range more {
		if !slices.ContainsFunc(claims, func(c ownership.Claim) bool {
			return c.Thing == m.Thing && c.Owner == m.Owner && c.Player == m.Player
		}) {
			fresh = append(fresh, m)
		}
	}
	return fresh
}

// schemas checks each object by itself.
func (c *checker) schemas(r *Report) error {
	plain := make([]manifest.Object, len(c.objects))
	for i, o := range c.objects {
		plain[i] = o.Object
	}
	schemas, err := kubeschema.New(r.Kubernetes, plain)
	if err != nil {
		return err
	}
	for _, o := range c.objects {
		if !schemas.Known(o.Object) && !c.defines(o.Object) {
			r.Notes = append(r.Notes, "no schema is known of "+o.Kind()+" of "+o.APIVersion()+", it was not checked")
		}
		for _, f := range schemas.Check(o.Object) {
			c.fault(o, f.Path, f.Text, f.Hint)
		}
	}
	return nil
}

// references checks what objects refer to.
func (c *checker) references() {
	w := references.Sources{Directory: c.isDirectory, Elsewhere: c.elsewhere, Makes: c.makes, Made: c.unwritten}
	at := map[manifest.ID]manifest.Located{}
	for _, o := range c.objects {
		w.Objects = append(w.Objects, o.Object)
		if _, taken := at[o.ID()]; !taken {
			at[o.ID()] = o
		}
	}
	for _, claim := range c.claims {
		if claim.Thing.Role == "" {
			w.Made = append(w.Made, claim.Thing.Object)
		}
	}
	for _, d := range references.Check(w) {
		c.fault(at[d.From], d.Path, "there is no "+d.To.String(), d.Hint)
	}
}
