// Package schemas owns the formats that people and stages share. The Go types
// in it are the only source: the strict decoder of render reads their tags,
// and the JSON Schema for editors and the reference page in docs/reference are
// generated from their tags and comments.
//
// The tags of a field:
//
//	yaml       its key
//	required   "true": the key must be there
//	default    the value if the key is missing; a list in YAML
//	otherwise  the same in words, if the value depends on something
//	enum       the only values, separated by commas
//	format     the form of a text, of each text in a list or of each value in
//	           a mapping: see [FormatOf]
//	keyFormat  the form of each key in a mapping
//	min, max   the range of a number, or of each number in a list
//	example    a value, in YAML
//
// What the types promise and nothing does yet is in [NotYet].
//
// The comment of a field says what it means, for a reader of the reference.
package schemas

import (
	"bytes"
	"compress/gzip"
	_ "embed" // for the generated schema
	"io"
)

//go:generate go run ./internal/gen

// packedSchema is a ninth of the text: every program has it loaded, and few print it.
//
//go:embed cluster.schema.json.gz
var packedSchema []byte

// ClusterSchema returns the JSON Schema (draft 2020-12) of cluster.yaml.
func ClusterSchema() []byte {
	z, err := gzip.NewReader(bytes.NewReader(packedSchema))
	if err != nil {
		panic(err) // it was packed by go generate
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return text
}
