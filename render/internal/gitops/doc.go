// Package gitops lays out the Kubernetes objects of an environment: what apply
// keeps, what Flux or Argo CD runs in which order, and the objects that make it do so.
// It gives values, not files: who encrypts and writes them is the caller's
// business. It is pure.
package gitops

import (
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
)

// Directories of a rendered tree.
const (
	BootstrapDir = "bootstrap" // what apply keeps
	AddonsDir    = "addons"    // what the engine runs
	FluxDir      = "flux"      // what makes Flux do so
	ArgoDir      = "argocd"    // what makes Argo CD do so
)

// Addon is an addon with its objects, all of them: charts are rendered.
type Addon struct {
	Name        string
	Layer       catalogue.Layer
	DependsOn   []string
	Namespace   string // for [Arrange] to make, unless it is one of Kubernetes' own
	PodSecurity string // the level that the namespace is labelled with; may be empty
	Origin      string // who declared it, for messages
	Objects     []manifest.Object
	// Whether objects stay in the cluster when they are gone from Git.
	Keep bool
	// Whether apply keeps the objects of Kubernetes' own kinds, although the addon
	// is of a layer of Flux: they hold what no key in the cluster may open. Custom
	// resources stay Flux's, for their definitions may be.
	Applied bool
}

// Domain says who can read a file.
type Domain int

// Who can read a file.
const (
	Plain    Domain = iota // everybody
	Operator               // the operators
	Cluster                // the operators and the cluster itself
)

// File is a file of the rendered tree.
type File struct {
	Path    string
	Domain  Domain            // Plain, unless the file is a Secret
	Objects []manifest.Object // in the order of the file
	// The addon that the objects belong to, for messages; empty for files that
	// only list others.
	Addon string
}
