package schemas

// FluxInstance is the installation of Flux that the Flux Operator makes and keeps.
type FluxInstance struct {
	// The release of Flux, or a range of which the operator installs the newest
	// release that its image has.
	Version string `yaml:"version" default:"2.9.x" format:"nonEmpty" example:"2.9.4"`
	// Where the images of Flux are.
	Registry string `yaml:"registry" default:"ghcr.io/fluxcd" format:"objectPrefix" example:"registry.example.com/fluxcd"`
	// Which images a registry other than Flux' own has.
	Variant string `yaml:"variant" enum:"upstream-alpine,enterprise-alpine,enterprise-distroless,enterprise-distroless-fips" otherwise:"what the registry is known for" example:"upstream-alpine"`
	// An artifact with the manifests of releases, which the operator looks at again
	// and again.
	Artifact string `yaml:"artifact" format:"ociURL" otherwise:"none: releases are those in the image of the operator" example:"oci://ghcr.io/controlplaneio-fluxcd/flux-operator-manifests"`
	// The controllers of Flux that run.
	Controllers []string `yaml:"controllers" enum:"source-controller,kustomize-controller,helm-controller,notification-controller,image-reflector-controller,image-automation-controller,source-watcher" otherwise:"source-, kustomize-, helm- and notification-controller" example:"[source-controller, kustomize-controller]"`
	// How much there is for Flux to do: how many objects its controllers look at
	// at once, and what they may use.
	Size string `yaml:"size" enum:"small,medium,large" otherwise:"what Flux' release has" example:"medium"`
	// Whether network policies keep others out of Flux' namespace.
	NetworkPolicy bool `yaml:"networkPolicy" default:"true" example:"false"`
	// Whether Flux may do in the namespace of a tenant only what a service account
	// of it may.
	Multitenant bool `yaml:"multitenant" default:"false" example:"true"`
	// Patches of Flux' objects, as in a kustomization.
	Patches []FluxPatch `yaml:"patches" otherwise:"none"`
}

// FluxPatch is a patch of objects of Flux.
type FluxPatch struct {
	// A strategic merge patch, or a list of operations of a JSON patch, as text.
	Patch string `yaml:"patch" required:"true" example:"\"- op: add\\n  path: /spec/template/spec/priorityClassName\\n  value: system-cluster-critical\\n\""`
	// The objects that it is for.
	Target FluxPatchTarget `yaml:"target"`
}

// FluxPatchTarget selects the objects that a patch is for.
type FluxPatchTarget struct {
	// The group of their API.
	Group string `yaml:"group" format:"dnsName" otherwise:"any" example:"apps"`
	// The version of their API.
	Version string `yaml:"version" format:"identifier" otherwise:"any" example:"v1"`
	// Their kind, as a regular expression.
	Kind string `yaml:"kind" format:"nonEmpty" otherwise:"any" example:"Deployment"`
	// Their name, as a regular expression.
	Name string `yaml:"name" format:"nonEmpty" otherwise:"any" example:"kustomize-controller"`
	// Their labels.
	LabelSelector string `yaml:"labelSelector" format:"labelSelector" otherwise:"any" example:"app=kustomize-controller"`
	// Their annotations.
	AnnotationSelector string `yaml:"annotationSelector" format:"labelSelector" otherwise:"any" example:"'!sharding.fluxcd.io/role'"`
}
