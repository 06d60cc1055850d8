package kubeschema

import (
	"cmp"
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sorting"
)

// custom is a version of a custom resource.
type custom struct {
	structural *structural.Structural
	validator  validation.SchemaValidator
	err        error // of its schema
}

// define adds the served versions of a definition. One that cannot be read has
// faults of its own, and adds nothing.
func (s *Schemas) define(o manifest.Object) {
	var crd v1.CustomResourceDefinition
	text, err := json.Marshal(o)
	if err != nil || kjson.UnmarshalCaseSensitivePreserveInts(text, &crd) != nil {
		return
	}
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
		s.custom[gvk] = newCustom(version)
		s.groups[gvk.Group] = append(s.groups[gvk.Group], fmt.Sprintf("%s of %s", gvk.Kind, version.Name))
	}
}

func newCustom(version v1.CustomResourceDefinitionVersion) *custom {
	c := &custom{}
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return c // such a version takes everything
	}
	var props apiextensions.JSONSchemaProps
	if c.err = v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil); c.err != nil {
		return c
	}
	if c.structural, c.err = structural.NewStructural(&props); c.err != nil {
		return c
	}
	c.validator, _, c.err = validation.NewSchemaValidator(&props)
	return c
}

// check compares an object with the schema as an API server does: it drops what
// is unknown and what is null, fills in defaults, and validates the rest.
func (c *custom) check(o manifest.Object) (faults []Fault) {
	if c.err != nil {
		return []Fault{{Text: "the schema of its definition is not valid: " + c.err.Error()}}
	}
	if c.structural == nil {
		return nil
	}
	plain, err := copied(o)
	if err != nil {
		return []Fault{{Text: err.Error()}}
	}
	for _, path := range pruning.PruneWithOptions(plain, c.structural, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}) {
		faults = append(faults, Fault{Path: path, Text: "there is no such field"})
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(plain, c.structural)
	defaulting.Default(plain, c.structural)
	for _, e := range validation.ValidateCustomResource(nil, plain, c.validator) {
		faults = append(faults, Fault{Path: e.Field, Text: e.ErrorBody()})
	}
	// The validator goes through a map, and finds in another order each time.
	sorting.By(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Text, b.Text))
	})
	return faults
}

// copied is an object that may be changed, with numbers as the API server's
// libraries have them.
func copied(o manifest.Object) (plain map[string]any, err error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return plain, kjson.UnmarshalCaseSensitivePreserveInts(text, &plain)
}
