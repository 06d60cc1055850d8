package manifest

import (
	"slices"
	"strings"
)

// Scope says whether objects of a kind are in a namespace.
type Scope int

// What is known of a kind.
const (
	UnknownScope Scope = iota // no definition of the kind is known
	Namespaced
	ClusterWide
)

const definition = "CustomResourceDefinition"

// talosAccount is the kind that Talos itself defines, for pods that ask its API:
// no manifest has its definition.
var talosAccount = [2]string{"talos.dev", "ServiceAccount"}

// usual are the groups of custom resources whose objects charts write without a
// namespace, and without the definitions, which are another chart's: all their kinds
// are in a namespace but these.
var usual = map[string][]string{
	"acme.cert-manager.io":           nil,
	"cert-manager.io":                {"ClusterIssuer"},
	"external-secrets.io":            {"ClusterExternalSecret", "ClusterPushSecret", "ClusterSecretStore"},
	"gateway.networking.k8s.io":      {"GatewayClass"},
	"helm.toolkit.fluxcd.io":         nil,
	"kustomize.toolkit.fluxcd.io":    nil,
	"monitoring.coreos.com":          nil,
	"notification.toolkit.fluxcd.io": nil,
	"source.toolkit.fluxcd.io":       nil,
	"traefik.io":                     nil,
}

// Scopes knows the scope of the kinds of Kubernetes, of custom resources whose
// definitions it has seen, and of some that are widely used.
type Scopes struct {
	custom map[[2]string]Scope // by group and kind
}

// NewScopes learns custom resources from their definitions; other objects are
// ignored.
func NewScopes(objects ...Object) *Scopes {
	s := &Scopes{custom: map[[2]string]Scope{talosAccount: Namespaced}}
	for _, o := range objects {
		if !o.IsDefinition() {
			continue
		}
		spec := o.child("spec")
		scope := Namespaced
		if spec.text("scope") == "Cluster" {
			scope = ClusterWide
		}
		s.custom[[2]string{spec.text("group"), spec.child("names").text("kind")}] = scope
	}
	return s
}

// Of returns the scope of an object's kind.
func (s *Scopes) Of(o Object) Scope {
	id := o.ID()
	for _, r := range resources {
		if r.group == id.Group && r.kind == id.Kind {
			if r.cluster {
				return ClusterWide
			}
			return Namespaced
		}
	}
	if scope, defined := s.custom[[2]string{id.Group, id.Kind}]; defined {
		return scope
	}
	switch clusterWide, known := usual[id.Group]; {
	case slices.Contains(clusterWide, id.Kind):
		return ClusterWide
	case known:
		return Namespaced
	}
	return UnknownScope
}

// IsBuiltIn reports whether every Kubernetes API server has the object's kind.
func (o Object) IsBuiltIn() bool {
	id := o.ID()
	return slices.ContainsFunc(resources, func(r resource) bool { return r.group == id.Group && r.kind == id.Kind })
}

// IsDefinition reports whether the object defines a custom resource.
func (o Object) IsDefinition() bool {
	return o.Kind() == definition && strings.HasPrefix(o.APIVersion(), "apiextensions.k8s.io/")
}

// SetNamespace puts those objects into a namespace that need one and have none,
// and takes it from those that cannot have one. Objects whose scope is unknown
// stay as they are; they are returned if they have no namespace.
func (s *Scopes) SetNamespace(namespace string, objects []Object) (unknown []Object) {
	for _, o := range objects {
		switch scope := s.Of(o); {
		case scope == ClusterWide:
			if m := o.Metadata(); m != nil {
				delete(m, "namespace")
			}
		case o.Namespace() != "":
		case scope == Namespaced:
			o.Metadata()["namespace"] = namespace
		default:
			unknown = append(unknown, o)
		}
	}
	return unknown
}
