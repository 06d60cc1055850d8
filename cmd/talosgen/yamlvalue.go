package main

import (
	"bytes"
	"encoding/json"

	"go.yaml.in/yaml/v3"
)

// yamlOf is JSON as YAML: the same values, with keys in order. Texts have quotes where
// an older parser would take them for something else.
func yamlOf(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(withNumbers(value)); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// withNumbers has numbers in place of their texts.
func withNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if n, err := v.Float64(); err == nil {
			return n
		}
	case map[string]any:
		for key, inner := range v {
			v[key] = withNumbers(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = withNumbers(inner)
		}
	}
	return value
}
