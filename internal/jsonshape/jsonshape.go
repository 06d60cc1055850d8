// Package jsonshape writes JSON Schemas of what talosgen prints for programs, from the Go
// types that it prints.
package jsonshape

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Shaper is a type that is written as another one.
type Shaper interface {
	// JSONShape returns a value of the type that it is written as.
	JSONShape() any
}

// Of is the JSON Schema (draft 2020-12) of a value's type. Fields may be added to what
// programs read, so it allows those that it does not know; a field that is always there
// is required, and a list is never null.
func Of(title string, v any) ([]byte, error) {
	w := writer{defs: map[string]any{}, names: map[reflect.Type]string{}}
	root := map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
	for k, of := range w.of(reflect.TypeOf(v)) {
		root[k] = of
	}
	if len(w.defs) > 0 {
		root["$defs"] = w.defs
	}
	text, err := json.MarshalIndent(root, "", "  ")
	return append(text, '\n'), err
}

// writer collects the definitions of structs.
type writer struct {
	defs  map[string]any
	names map[reflect.Type]string
}

type schema = map[string]any

var (
	shaper        = reflect.TypeFor[Shaper]()
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	moment        = reflect.TypeFor[time.Time]()
)

// is reports whether a type, or a pointer to it, has the methods of an interface.
func is(t, of reflect.Type) bool {
	return t.Kind() != reflect.Interface && (t.Implements(of) || reflect.PointerTo(t).Implements(of))
}

func (w *writer) of(t reflect.Type) schema {
	switch {
	case t.Kind() == reflect.Pointer:
		return schema{"anyOf": []any{w.of(t.Elem()), schema{"type": "null"}}}
	case is(t, shaper):
		return w.of(reflect.TypeOf(reflect.New(t).Interface().(Shaper).JSONShape()))
	case t == moment:
		return schema{"type": "string", "format": "date-time"}
	case is(t, textMarshaler):
		return schema{"type": "string"}
	case is(t, marshaler):
		return schema{} // it alone knows
	}
	switch t.Kind() {
	case reflect.Struct:
		return w.object(t)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return schema{"type": "string"}
		}
		return schema{"type": "array", "items": w.of(t.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": w.of(t.Elem())}
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return schema{"type": "number"}
	case reflect.Interface:
		return schema{}
	}
	return schema{"type": "integer"}
}

// object is a struct: a definition, if it has a name.
func (w *writer) object(t reflect.Type) schema {
	if t.Name() == "" {
		return w.fields(t)
	}
	if name, known := w.names[t]; known {
		return schema{"$ref": "#/$defs/" + name}
	}
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	for n := 2; w.defs[name] != nil; n++ {
		name = fmt.Sprintf("%s%d", strings.TrimRight(name, "0123456789"), n)
	}
	w.names[t], w.defs[name] = name, schema{} // it may be in itself
	w.defs[name] = w.fields(t)
	return schema{"$ref": "#/$defs/" + name}
}

func (w *writer) fields(t reflect.Type) schema {
	properties, required := schema{}, []any{}
	w.collect(t, properties, &required, true)
	found := schema{"type": "object", "properties": properties}
	if len(required) > 0 {
		found["required"] = required
	}
	return found
}

// collect adds the fields of a struct, and those of what is embedded in it. always says
// that the struct itself is there.
func (w *writer) collect(t reflect.Type, properties schema, required *[]any, always bool) {
	for f := range fieldsOf(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			inner, there := f.Type, always
			if inner.Kind() == reflect.Pointer {
				inner, there = inner.Elem(), false
			}
			if inner.Kind() == reflect.Struct {
				w.collect(inner, properties, required, there)
				continue
			}
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if _, known := properties[name]; known {
			continue // the outer one hides it
		}
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		if of := f.Type; optional && of.Kind() == reflect.Pointer {
			properties[name] = w.of(of.Elem())
		} else {
			properties[name] = w.of(of)
		}
		if !optional && always {
			*required = append(*required, name)
		}
	}
}

// fieldsOf are the fields of a struct, those that are embedded last: they are hidden by
// the others.
func fieldsOf(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for _, embedded := range []bool{false, true} {
			for i := range t.NumField() {
				if f := t.Field(i); f.Anonymous == embedded && !yield(f) {
					return
				}
			}
		}
	}
}
