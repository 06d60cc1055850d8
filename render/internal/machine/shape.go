package machine

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config/encoder"

	"github.com/talosgen/talosgen/internal/sorting"
)

// Shape is what the linked library takes in one place of a document.
type Shape struct {
	Form   Form
	Name   string       // of Fields: the library's name of the type
	Words  string       // of Fields: what the library says of the type
	Fields []ShapeField // of Fields, sorted by key
	Each   *Shape       // of List and Map
}

// ShapeField is a key of a mapping.
type ShapeField struct {
	Key    string
	Words  string   // what the library says of it
	Values []string // some of the values that it takes
	Shape  *Shape
}

// Form is the form of a value in YAML.
type Form int

// The forms. A scalar is one that the library reads itself, such as an address.
const (
	Any Form = iota
	Scalar
	Text
	Number
	Boolean
	List
	Map
	Fields
)

// KindShape is the shape of a kind of document; that with machine: and cluster: has no
// kind.
type KindShape struct {
	Kind  string
	Shape *Shape
}

// Shapes are the shapes of all documents that the linked library knows, the one without
// a kind first. What two places have in common is one Shape.
func Shapes() ([]KindShape, error) {
	s := shaper{known: map[reflect.Type]*Shape{}}
	var out []KindShape
	for _, kind := range append([]string{""}, allKinds...) {
		id := ID{APIVersion: "v1alpha1", Kind: kind}
		if kind == "" {
			id = MainID
		}
		doc, err := newTyped(id)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		out = append(out, KindShape{kind, s.shape(reflect.TypeOf(doc))})
	}
	return out, nil
}

// shaper reads types as checkKeys does, which decides what a document may hold.
type shaper struct {
	known map[reflect.Type]*Shape // structs, some of which hold themselves
}

var decodesText = reflect.TypeFor[encoding.TextUnmarshaler]()

func (s shaper) shape(t reflect.Type) *Shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case reflect.PointerTo(t).Implements(decodesText), t == reflect.TypeFor[time.Duration]():
		return &Shape{Form: Scalar}
	case unmarshals(t) && t.Kind() != reflect.Struct:
		return &Shape{}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &Shape{Form: Boolean}
	case reflect.String:
		return &Shape{Form: Text}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return &Shape{Form: Number}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return &Shape{Form: Text}
		}
		return &Shape{Form: List, Each: s.shape(t.Elem())}
	case reflect.Map:
		return &Shape{Form: Map, Each: s.shape(t.Elem())}
	case reflect.Struct:
		return s.object(t)
	}
	return &Shape{}
}

func (s shaper) object(t reflect.Type) *Shape {
	if free := freeForm(t); free != nil {
		return s.shape(free)
	}
	if known := s.known[t]; known != nil {
		return known
	}
	fields := fieldsOf(t)
	if len(fields) == 0 || unmarshals(t) {
		return &Shape{} // it reads what its fields do not show
	}
	doc := docOf(t)
	o := &Shape{Form: Fields, Name: t.String(), Words: doc.Description}
	s.known[t] = o
	for key, f := range fields {
		said := described(t, key)
		o.Fields = append(o.Fields, ShapeField{Key: key, Words: said.Description, Values: said.Values, Shape: s.shape(f.Type)})
	}
	sorting.By(o.Fields, func(a, b ShapeField) int { return strings.Compare(a.Key, b.Key) })
	return o
}

// docOf is what the library says of a type.
func docOf(t reflect.Type) encoder.Doc {
	if documented, ok := reflect.New(t).Interface().(encoder.Documented); ok {
		if doc := documented.Doc(); doc != nil {
			return *doc
		}
	}
	return encoder.Doc{}
}

// described is what the library says of a key of a struct, or of one that it embeds.
func described(t reflect.Type, key string) encoder.Doc {
	doc := docOf(t)
	for _, f := range doc.Fields {
		if f.Name == key {
			return f
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if _, options, _ := strings.Cut(f.Tag.Get("yaml"), ","); !strings.Contains(options, "inline") {
			continue
		}
		for f.Type.Kind() == reflect.Pointer {
			f.Type = f.Type.Elem()
		}
		if f.Type.Kind() == reflect.Struct {
			if said := described(f.Type, key); said.Name != "" {
				return said
			}
		}
	}
	return encoder.Doc{}
}
