// Package kubeschema checks Kubernetes objects strictly, without a cluster:
// fields that their kind does not have, values of another type, versions of APIs
// that a Kubernetes has no longer or not yet, and custom resources against the
// definitions that come with them.
//
// Kinds of Kubernetes itself are known from the types of k8s.io/api. What these
// types do not say, such as which fields are required, only a server checks.
package kubeschema

import (
	"fmt"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// Fault is something wrong with an object.
type Fault struct {
	Path string // of the field, such as spec.replicas; empty for all of it
	Text string
	Hint string
}

// Schemas are the kinds that objects may be of.
type Schemas struct {
	kubernetes release
	builtin    *runtime.Scheme
	custom     map[schema.GroupVersionKind]*custom
	groups     map[string][]string // of custom resources: kinds and versions that there are
}

// New returns the kinds of a version of Kubernetes, such as 1.37.0, and those
// that definitions among the objects add. What is wrong with a definition,
// [Schemas.Check] of it says.
func New(kubernetes string, objects []manifest.Object) (*Schemas, error) {
	version, err := parseRelease(kubernetes)
	if err != nil {
		return nil, err
	}
	s := &Schemas{kubernetes: version, builtin: builtin(), custom: map[schema.GroupVersionKind]*custom{}, groups: map[string][]string{}}
	for _, o := range objects {
		if o.ID().Group == apiextensions.GroupName && o.Kind() == "CustomResourceDefinition" {
			s.define(o)
		}
	}
	return s, nil
}

// builtin are the kinds that a Kubernetes has, and those that an API server
// always adds.
func builtin() *runtime.Scheme {
	all := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensions.AddToScheme, addAPIService} {
		if err := add(all); err != nil {
			panic(err) // two types of one kind in the libraries: no input leads here
		}
	}
	return all
}

// Known tells whether there is a schema for the object.
func (s *Schemas) Known(o manifest.Object) bool {
	gvk := kindOf(o)
	return s.builtin.IsGroupRegistered(gvk.Group) || s.groups[gvk.Group] != nil
}

// Check finds what is wrong with an object. An object of a kind that nothing is
// known about has no faults: see [Schemas.Known].
func (s *Schemas) Check(o manifest.Object) []Fault {
	gvk := kindOf(o)
	plain := decrypted(o)
	if c := s.custom[gvk]; c != nil {
		return c.check(plain)
	}
	if kinds := s.groups[gvk.Group]; kinds != nil && !s.builtin.Recognizes(gvk) {
		return []Fault{{Text: fmt.Sprintf("the definitions have no %s of %s", gvk.Kind, gvk.GroupVersion()),
			Hint: "they have " + strings.Join(kinds, ", ")}}
	}
	if !s.builtin.IsGroupRegistered(gvk.Group) {
		return nil
	}
	typed, err := s.builtin.New(gvk)
	if err != nil {
		return []Fault{s.unknownKind(gvk)}
	}
	return append(s.lifecycle(gvk, typed), s.strict(gvk, plain, typed)...)
}

// unknownKind says which versions a kind has, or which kind may be meant.
func (s *Schemas) unknownKind(gvk schema.GroupVersionKind) Fault {
	f := Fault{Text: fmt.Sprintf("Kubernetes has no %s in %s", gvk.Kind, gvk.GroupVersion())}
	var versions, kinds []string
	for known := range s.builtin.AllKnownTypes() {
		if known.Kind == gvk.Kind && s.serves(known) {
			versions = append(versions, known.GroupVersion().String())
		}
		if known.Group == gvk.Group {
			kinds = append(kinds, known.Kind)
		}
	}
	slices.Sort(versions)
	slices.Sort(kinds)
	if len(versions) > 0 {
		f.Hint = "it is in " + strings.Join(slices.Compact(versions), ", ")
	} else {
		f.Hint = diag.Suggest(gvk.Kind, slices.Compact(kinds))
	}
	return f
}

func kindOf(o manifest.Object) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(o.APIVersion(), o.Kind())
}

// decrypted is an object as SOPS would leave it, with nothing in place of what
// is encrypted: that it decrypts, others check.
func decrypted(o manifest.Object) manifest.Object {
	if _, encrypted := o["sops"]; !encrypted {
		return o
	}
	plain := manifest.Object{}
	for key, value := range o {
		if key != "sops" {
			plain[key] = withoutCipher(value)
		}
	}
	return plain
}

func withoutCipher(value any) any {
	switch v := value.(type) {
	case string:
		if strings.HasPrefix(v, "ENC[") {
			return ""
		}
	case map[string]any:
		plain := map[string]any{}
		for key, value := range v {
			plain[key] = withoutCipher(value)
		}
		return plain
	case []any:
		plain := make([]any, len(v))
		for i, value := range v {
			plain[i] = withoutCipher(value)
		}
		return plain
	}
	return value
}
