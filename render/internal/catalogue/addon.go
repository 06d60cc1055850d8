// Package catalogue says which addons a cluster has, and what each consists of:
// charts, manifests or built-in objects, values, order. It decides from what
// cluster.yaml says and reads nothing; it is pure.
package catalogue

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

// Layer is when an addon comes up. Flux runs a Kustomization for each of its
// layers, each after the one before.
type Layer string

// The layers, in their order.
const (
	// Bootstrap is what has to run before Flux can; apply keeps it.
	Bootstrap Layer = "bootstrap"
	// Controllers is what others need: operators, webhooks, drivers.
	Controllers Layer = "controllers"
	// Configs are the objects that those controllers watch, such as issuers.
	Configs Layer = "configs"
	// Apps is everything else.
	Apps Layer = "apps"
)

// Addon is something that runs in the cluster, or is configured in it.
type Addon struct {
	// Its name: that of its directory in the rendered tree, in patches/addons
	// and in envs/<env>/addons.
	Name  string
	Layer Layer
	// Names of addons that have to be ready before.
	DependsOn []string
	// Where objects without a namespace go that need one; it is made if it is
	// none of Kubernetes' own.
	Namespace string
	// The level of the pod security standards that the namespace is labelled
	// with, such as privileged; empty for Talos' default, baseline.
	PodSecurity string
	// Where the objects come from; nil for those in Objects alone.
	Source *Source
	// The values of the chart, before those of the user: the catalogue's and
	// those that options of cluster.yaml make.
	Values map[string]any
	// Objects of its own, besides those of the source.
	Objects []manifest.Object
	// What becomes of a chart's hooks that install something; empty: they are
	// kept, with a warning of those that run something.
	Hooks Hooks
	// Whether whatever removes objects that are no longer in Git must spare
	// these: without them, pods have no network or volumes lose their data.
	Keep bool
	// Whether apply keeps it, whatever its layer: its Secrets hold more than a
	// cluster may decrypt by itself.
	Applied bool
	// What it needs of machines and of the cluster.
	Needs schemas.AddonNeeds
	// Who declared it, for messages: an option of cluster.yaml, such as
	// cni.type, or addons.<name>.
	Origin string
	// What whoever renders should know, such as that upstream retired it.
	Warnings []string
}

// Hooks says what becomes of the hooks of a chart.
type Hooks string

// What may become of them.
const (
	KeepHooks Hooks = "keep" // they are objects as all others
	DropHooks Hooks = "drop"
)

// Source is where the objects of an addon come from: one of its fields.
type Source struct {
	Chart *Chart
	// Release manifests.
	Manifests []Remote
	// A file or directory of manifests, or with a kustomization; relative to
	// the root of the repository.
	Path string
}

// Chart is a Helm chart.
type Chart struct {
	// The URL of an HTTP repository, or oci:// and the registry with the path
	// up to the chart's name; empty for Path.
	Repository string
	Name       string
	Version    string
	// A directory or an archive in the repository of the user.
	Path string
}

// Remote is a file from elsewhere.
type Remote struct {
	URL    string
	SHA256 string // in hex; empty: the one in charts.lock
}

// Facts are what a catalogue entry may decide from.
type Facts struct {
	Environment    string
	Cluster        schemas.Cluster        // cluster.yaml with all defaults
	Infrastructure schemas.Infrastructure // resolved
	// Values of secrets, by the names in [Needs]: those of secret variables.
	// One that is missing is an error of [Addons].
	Secrets map[string]secret.String
	// Shaped tells that these only look like secrets: they are others, or there are no
	// keys.
	Shaped bool
	// The complete machine configurations of the servers that the autoscaler
	// makes, by the name of their pool.
	Autoscaled map[string]secret.String
	// The authorities that a rotation has them trust, as a mark of the package rotation;
	// empty: none is under way.
	Authorities string
	// The public half of the cluster's own age key.
	ClusterRecipient string
	// Near is where cluster.yaml sets an option, written with dots, or the
	// nearest mapping that it would be in. May be nil.
	Near func(option string) diag.Pos
}
