package infra

import (
	"bytes"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/schemas"
)

// Encode writes infrastructure.yaml. source is the file that it was made from.
func Encode(out *schemas.Infrastructure, source string) ([]byte, error) {
	what := "The desired state of Hetzner Cloud"
	if out.Provider == schemas.Static {
		what = "The machines of the cluster"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s, resolved by talosgen from\n# %s. Never edited: apply reads it.\n", what, source)
	fields := reflect.ValueOf(out).Elem()
	for i := range fields.NumField() {
		if err := encodeField(&b, fields.Type().Field(i), fields.Field(i)); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// encodedAtOnce is the number of items of a list that are encoded together. The
// encoder remembers all of what it is given until it is done.
const encodedAtOnce = 50

// encodeField writes a key with its value; a long list part by part.
func encodeField(b *bytes.Buffer, field reflect.StructField, value reflect.Value) error {
	if value.Kind() != reflect.Slice || value.Len() <= encodedAtOnce {
		text, err := encodeKey(field, value)
		b.Write(text)
		return err
	}
	for i := 0; i < value.Len(); i += encodedAtOnce {
		text, err := encodeKey(field, value.Slice(i, min(i+encodedAtOnce, value.Len())))
		if err != nil {
			return err
		}
		if i > 0 {
			_, text, _ = bytes.Cut(text, []byte("\n")) // the key
		}
		b.Write(text)
	}
	return nil
}

// encodeKey encodes a mapping of one key, or nothing if that is left out.
func encodeKey(field reflect.StructField, value reflect.Value) ([]byte, error) {
	one := reflect.New(reflect.StructOf([]reflect.StructField{field}))
	one.Elem().Field(0).Set(value)
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(4)
	if err := enc.Encode(one.Interface()); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil || b.String() == "{}\n" {
		return nil, err
	}
	return b.Bytes(), nil
}
