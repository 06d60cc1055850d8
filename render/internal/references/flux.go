package references

import (
	"cmp"
	"path"
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
)

// kustomization follows what a Kustomization of Flux needs: its directory, its
// source, what it waits for, and what it decrypts and substitutes with.
func (c *checker) kustomization(o manifest.Object) {
	spec := manifest.Section(o, "spec")
	dir := path.Clean(strings.TrimPrefix(manifest.Text(spec["path"]), "/"))
	if c.sources.Directory != nil && !c.sources.Elsewhere[o.ID()] && !c.sources.Directory(dir) {
		c.found = append(c.found, Dangling{From: o.ID(), Path: "spec.path", To: manifest.ID{Kind: "directory", Name: dir},
			Hint: "the path is relative to the root of the repository"})
	}
	c.flux(o, "spec.sourceRef", manifest.Section(spec, "sourceRef"), manifest.Text(manifest.Section(spec, "sourceRef")["kind"]))
	for i, on := range manifest.Maps(spec["dependsOn"]) {
		c.flux(o, index("spec.dependsOn", i), on, "Kustomization")
	}
	c.flux(o, "spec.decryption.secretRef", manifest.Section(spec, "decryption", "secretRef"), "Secret")
	for i, from := range manifest.Maps(manifest.Section(spec, "postBuild")["substituteFrom"]) {
		if from["optional"] != true {
			c.flux(o, index("spec.postBuild.substituteFrom", i), from, manifest.Text(from["kind"]))
		}
	}
}

func (c *checker) release(o manifest.Object) {
	spec := manifest.Section(o, "spec")
	template := manifest.Section(spec, "chart", "spec", "sourceRef")
	c.flux(o, "spec.chart.spec.sourceRef", template, manifest.Text(template["kind"]))
	c.flux(o, "spec.chartRef", manifest.Section(spec, "chartRef"), manifest.Text(manifest.Section(spec, "chartRef")["kind"]))
	for i, on := range manifest.Maps(spec["dependsOn"]) {
		c.flux(o, index("spec.dependsOn", i), on, "HelmRelease")
	}
	for i, from := range manifest.Maps(spec["valuesFrom"]) {
		if from["optional"] != true {
			c.flux(o, index("spec.valuesFrom", i), from, manifest.Text(from["kind"]))
		}
	}
}

// flux follows a reference of Flux: into its own namespace unless it says
// another one.
func (c *checker) flux(o manifest.Object, path string, ref map[string]any, kind string) {
	c.need(o, path, manifest.ID{Kind: kind, Namespace: cmp.Or(manifest.Text(ref["namespace"]), o.Namespace()), Name: manifest.Text(ref["name"])}, "")
}

// isFlux tells whether an object is Flux itself.
func isFlux(o manifest.Object) bool {
	return o.Kind() == "Deployment" && o.Name() == "kustomize-controller"
}

// fluxElsewhere notes the namespaces of Flux' objects: where it was installed by
// other means, so was the namespace that it watches.
func (c *checker) fluxElsewhere() {
	for _, o := range c.sources.Objects {
		if id := o.ID(); strings.HasSuffix(id.Group, ".toolkit.fluxcd.io") && id.Namespace != "" {
			c.namespace(id.Namespace)
		}
	}
}

// fluxInstance is what the Flux Operator makes Flux of.
const fluxInstance = "fluxcd.controlplane.io/FluxInstance"

// instance follows what a FluxInstance needs: the Secret for its source, and what the
// Kustomization needs that is made of it.
func (c *checker) instance(o manifest.Object) {
	sync := manifest.Section(o, "spec", "sync")
	c.flux(o, "spec.sync.pullSecret", map[string]any{"name": sync["pullSecret"]}, "Secret")
	dir := path.Clean(strings.TrimPrefix(manifest.Text(sync["path"]), "/"))
	if c.sources.Directory != nil && len(sync) > 0 && !c.sources.Elsewhere[o.ID()] && !c.sources.Directory(dir) {
		c.found = append(c.found, Dangling{From: o.ID(), Path: "spec.sync.path", To: manifest.ID{Kind: "directory", Name: dir},
			Hint: "the path is relative to the root of the repository"})
	}
}

// madeByInstance notes what the Flux Operator makes of a FluxInstance.
func (c *checker) madeByInstance(o manifest.Object) {
	if k := o.Synced(); k != nil {
		c.add(manifest.ID{Kind: k.Kind(), Namespace: k.Namespace(), Name: k.Name()})
		c.add(manifest.ID{Kind: k.Text("spec", "sourceRef", "kind"), Namespace: k.Namespace(), Name: k.Name()})
	}
	c.namespace(o.Namespace())
	for _, name := range manifest.Texts(manifest.Section(o, "spec")["components"]) {
		for _, kind := range []string{"Deployment", "ServiceAccount", "Service"} {
			c.add(manifest.ID{Kind: kind, Namespace: o.Namespace(), Name: name})
		}
	}
}
