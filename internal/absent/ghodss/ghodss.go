// Package yaml takes the place of github.com/ghodss/yaml, which Talos' library calls
// to apply JSON patches. That one is not maintained any more, and brings a parser of
// its own; sigs.k8s.io/yaml is what became of it, and is linked anyway (see decision
// 0018). It has what Talos calls.
package yaml

import "sigs.k8s.io/yaml"

// YAMLToJSON converts a document.
func YAMLToJSON(document []byte) ([]byte, error) { return yaml.YAMLToJSON(document) }

// JSONToYAML converts a document.
func JSONToYAML(document []byte) ([]byte, error) { return yaml.JSONToYAML(document) }
