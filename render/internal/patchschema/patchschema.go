// Package patchschema makes the JSON Schema of patches, for editors: of all documents
// that the linked Talos library knows, with what talosgen takes besides in their values:
// variables, and the directives !replace and !delete.
package patchschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/talosgen/talosgen/render/internal/legacy"
	"github.com/talosgen/talosgen/render/internal/machine"
)

type dict = map[string]any

// Make returns the schema of patches for configurations of a contract, by its minor
// version. It is one of draft 7, which all editors know.
func Make(minor int) ([]byte, error) {
	kinds, err := machine.Shapes()
	if err != nil {
		return nil, err
	}
	w := writer{minor: minor, definitions: dict{"variable": variable(), "deletion": deletion()}}
	root := dict{
		"$schema":     "http://json-schema.org/draft-07/schema#",
		"title":       "a patch of a Talos machine configuration",
		"definitions": w.definitions,
		"type":        []string{"object", "null"},
	}
	var names []string
	var each []any
	for _, k := range kinds {
		if k.Kind == "" {
			root["else"] = w.main(k.Shape)
			continue
		}
		names = append(names, k.Kind)
		each = append(each, dict{
			"if":   dict{"required": []string{"kind"}, "properties": dict{"kind": dict{"const": k.Kind}}},
			"then": ref(w.document(k)),
		})
	}
	root["if"] = dict{"anyOf": []any{dict{"required": []string{"kind"}}, dict{"required": []string{"apiVersion"}}}}
	root["then"] = dict{
		"allOf":    each,
		"required": []string{"kind"},
		"properties": dict{
			"apiVersion": dict{"type": "string"},
			// A kind that is new in a later Talos is passed on, so it is no error here.
			"kind": dict{"type": "string", "anyOf": []any{dict{"enum": names}, dict{}}},
		},
	}

	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err = enc.Encode(root)
	return b.Bytes(), err
}

// variable is a text with a variable in it, or one that is encrypted: both can stand for
// any scalar.
func variable() dict {
	return dict{"description": "A value with a variable in it.", "type": "string", "pattern": `\$\{[A-Za-z_]|^ENC\[`}
}

// orDeleted is a schema of types, or of what !delete without a value is: null, or for
// editors an empty text.
func orDeleted(schema dict, types ...string) dict {
	schema["type"] = append(types, "null", "string")
	schema["maxLength"] = 0
	return schema
}

// deletion is Talos' own directive, which each mapping may hold.
func deletion() dict {
	return dict{"const": "delete", "description": "Removes what it stands in, as Talos does: an error if there is nothing to remove."}
}

// writer collects definitions.
type writer struct {
	minor       int
	definitions dict
}

// document adds the definition of a kind, and returns its name.
func (w *writer) document(k machine.KindShape) string {
	object := w.object(k.Shape, "")
	properties := object["properties"].(dict)
	properties["apiVersion"] = dict{"const": "v1alpha1", "description": "The version of the format of this document."}
	properties["kind"] = dict{"const": k.Kind}
	properties[encrypted] = unsuggested()
	name := "kind." + k.Kind
	w.definitions[name] = object
	return name
}

// encrypted is the key of what SOPS says of a file, in its last document.
const encrypted = "sops"

// unsuggested is anything, which an editor does not offer.
func unsuggested() dict { return dict{"doNotSuggest": true} }

// main is the schema of the document with machine: and cluster:.
func (w *writer) main(s *machine.Shape) dict {
	// The first two make another document of it. They are here so that they are offered.
	properties := dict{"apiVersion": dict{"const": "v1alpha1"}, "kind": dict{"type": "string"}, encrypted: unsuggested()}
	for _, f := range s.Fields {
		properties[f.Key] = w.field(f, f.Key)
	}
	return mapping(s, properties)
}

// object is the schema of a mapping with known keys. Path is where it is in the document
// with machine: and cluster:, or "": it may be anywhere.
func (w *writer) object(s *machine.Shape, path string) dict {
	properties := dict{}
	for _, f := range s.Fields {
		at := ""
		if path != "" {
			at = path + "." + f.Key
		}
		properties[f.Key] = w.field(f, at)
	}
	return mapping(s, properties)
}

func mapping(s *machine.Shape, properties dict) dict {
	properties["$patch"] = ref("deletion")
	return describe(orDeleted(dict{"additionalProperties": false, "properties": properties}, "object"), s.Words)
}

// describe says what the library says of something.
func describe(what dict, words string) dict {
	if words = strings.TrimSpace(words); words != "" {
		what["description"] = words
	}
	return what
}

// field is the schema of a key. In a section of the main document each place has a schema
// of its own, as each has another home in later contracts.
func (w *writer) field(f machine.ShapeField, path string) dict {
	var value dict
	switch {
	case f.Shape.Form == machine.Fields && path != "":
		value = w.object(f.Shape, path)
	case len(f.Values) > 0:
		value = offer(f.Values, w.value(f.Shape))
	default:
		value = w.value(f.Shape)
	}
	if value["$ref"] != nil {
		value = dict{"allOf": []any{value}} // beside $ref nothing is read
	}
	words := f.Words
	if target := w.moved(path); target != "" {
		words = fmt.Sprintf("Talos 1.%d has this in %s; `talosgen convert-patch` moves it.\n\n%s", w.minor, target, words)
	}
	return describe(value, words)
}

// moved names the document that has taken over a field in the contract, or is "".
func (w *writer) moved(path string) string {
	if path == "" {
		return ""
	}
	place := legacy.PlaceOf(path, w.minor)
	if place.Kind == "" || place.Field == "" {
		return place.Kind
	}
	return place.Kind + "." + place.Field
}

// offer is a value with some of which an editor completes; others are fine.
func offer(values []string, value dict) dict {
	var plain []string
	for _, v := range values {
		plain = append(plain, strings.Trim(v, "`\"' "))
	}
	return dict{"anyOf": []any{dict{"enum": plain}, value}}
}

func ref(name string) dict { return dict{"$ref": "#/definitions/" + name} }

// value is the schema of a value in any place. It may be null: !delete stands alone.
func (w *writer) value(s *machine.Shape) dict {
	switch s.Form {
	case machine.Scalar, machine.Text:
		return dict{"type": []string{"string", "number", "boolean", "null"}}
	case machine.Number:
		return dict{"anyOf": []any{orDeleted(dict{}, "number"), ref("variable")}}
	case machine.Boolean:
		return dict{"anyOf": []any{orDeleted(dict{}, "boolean"), ref("variable")}}
	case machine.List:
		return orDeleted(dict{"items": w.value(s.Each)}, "array")
	case machine.Map:
		return orDeleted(dict{"additionalProperties": w.value(s.Each)}, "object")
	case machine.Fields:
		if _, ok := w.definitions[s.Name]; !ok {
			w.definitions[s.Name] = nil // it may hold itself
			w.definitions[s.Name] = w.object(s, "")
		}
		return ref(s.Name)
	}
	return dict{}
}
