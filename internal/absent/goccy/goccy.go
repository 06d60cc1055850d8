// Package yaml takes the place of github.com/goccy/go-yaml, with which Huawei's
// library reads a file of regions. Parsers of YAML are linked anyway, and this was one
// more (see decision 0018). It has what that library calls.
package yaml

import "go.yaml.in/yaml/v3"

// Unmarshal decodes a document.
func Unmarshal(document []byte, into any) error { return yaml.Unmarshal(document, into) }
