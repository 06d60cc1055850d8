package machine

import (
	"bytes"
	"reflect"
	"strings"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"go.yaml.in/yaml/v4"
)

// section is a key of the main document, or of its machine: or cluster:, with
// the value that it was encoded from.
type section struct {
	value any
	text  []byte // "" if the value is left out
}

// sections are those of a document by the Go names of the fields: Type.Field.
type sections map[string]section

// encodeMain encodes the main document section by section, and takes the text
// of those that have not changed from the document that it was made of: a node
// differs from others in a few, and encoding is half of what a node costs.
func encodeMain(main *v1alpha1.Config, before sections) ([]byte, sections, error) {
	e := sectionEncoder{before: before, now: sections{}}
	text, err := e.fields(reflect.ValueOf(main).Elem())
	return text, e.now, err
}

type sectionEncoder struct {
	before, now sections
}

// fields encodes the fields of a struct one by one.
func (e *sectionEncoder) fields(v reflect.Value) ([]byte, error) {
	var text []byte
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if key := nestedKey(f); key != "" && !v.Field(i).IsNil() {
			inner, err := e.fields(v.Field(i).Elem())
			if err != nil {
				return nil, err
			}
			text = appendNested(text, key, inner)
			continue
		}
		s, err := e.section(v.Type().Name()+"."+f.Name, f, v.Field(i))
		if err != nil {
			return nil, err
		}
		text = append(text, s...)
	}
	return text, nil
}

// nestedKey returns the key of a field that is split up further, or "".
func nestedKey(f reflect.StructField) string {
	if f.Type == reflect.TypeFor[*v1alpha1.MachineConfig]() || f.Type == reflect.TypeFor[*v1alpha1.ClusterConfig]() {
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		return key
	}
	return ""
}

func (e *sectionEncoder) section(name string, f reflect.StructField, v reflect.Value) ([]byte, error) {
	if v.IsZero() && strings.HasSuffix(f.Tag.Get("yaml"), ",omitempty") {
		return nil, nil
	}
	value := v.Interface()
	s, ok := e.before[name]
	if !ok || !reflect.DeepEqual(s.value, value) {
		single := reflect.New(singleField(f)).Elem()
		single.Field(0).Set(v)
		text, err := yaml.Marshal(single.Interface())
		if err != nil {
			return nil, err
		}
		if bytes.Equal(text, []byte("{}\n")) {
			text = nil
		}
		s = section{value, text}
	}
	e.now[name] = s
	return s.text, nil
}

var singleFields sync.Map // reflect.Type and name of a field → reflect.Type

// singleField returns the type of a struct that has nothing but a field.
func singleField(f reflect.StructField) reflect.Type {
	type key struct {
		t    reflect.Type
		name string
	}
	if known, ok := singleFields.Load(key{f.Type, f.Name}); ok {
		return known.(reflect.Type) // only these are stored
	}
	t := reflect.StructOf([]reflect.StructField{{Name: f.Name, Type: f.Type, Tag: f.Tag}})
	singleFields.Store(key{f.Type, f.Name}, t)
	return t
}

// appendNested appends a mapping under a key, indented as the library does.
func appendNested(text []byte, key string, inner []byte) []byte {
	text = append(text, key...)
	if len(inner) == 0 {
		return append(text, ": {}\n"...)
	}
	text = append(text, ":\n"...)
	for line := range bytes.Lines(inner) {
		if len(line) > 1 {
			text = append(text, "    "...)
		}
		text = append(text, line...)
	}
	return text
}
