package nodeconfig

import (
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// ID names a document of a configuration, as Talos does: the document without a
// kind, which every configuration has, is all empty.
type ID struct {
	APIVersion string
	Kind       string
	Name       string
}

// String prints VolumeConfig/STATE; the document without a kind is v1alpha1.
func (id ID) String() string {
	switch {
	case id.Kind == "":
		return "v1alpha1"
	case id.Name == "":
		return id.Kind
	}
	return id.Kind + "/" + id.Name
}

// Config is a machine configuration: all its documents, secrets included.
type Config struct {
	name string // for messages
	docs []document
}

type document struct {
	id   ID
	text []byte
	root *yaml.Node // a mapping
}

// Format prints [secret.Mask] whatever the verb.
func (c *Config) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(secret.Mask)) }

// Format prints [secret.Mask] whatever the verb.
func (d document) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(secret.Mask)) }

// Parse reads a decrypted configuration. Name is where it is from, for errors;
// these never quote the text.
func Parse(name string, text []byte) (*Config, error) {
	c := &Config{name: name}
	var problems diag.List
	for _, part := range yamltext.Split(text) {
		d, err := parseDocument(part)
		if err != nil {
			problems.Add(c.problem("document %d: %v", len(c.docs)+1, err))
		} else if slices.ContainsFunc(c.docs, func(o document) bool { return o.id == d.id }) {
			problems.Add(c.problem("there are two documents %s", d.id))
		}
		c.docs = append(c.docs, d)
	}
	if len(c.docs) == 0 {
		problems.Add(c.problem("it is empty"))
	}
	return c, problems.Err()
}

func (c *Config) problem(format string, args ...any) *diag.Problem {
	return diag.On(c.name, format, args...).
		WithHint("apply compares what Talos itself can read: see what is wrong with talosctl validate")
}

var lineNumber = regexp.MustCompile(`line (\d+)`)

func parseDocument(text []byte) (document, error) {
	d := document{text: text}
	var n yaml.Node
	if err := yaml.Unmarshal(text, &n); err != nil {
		// The library's messages quote what they stumble over.
		at := ""
		if m := lineNumber.FindString(err.Error()); m != "" {
			at = ", near its " + m
		}
		return d, fmt.Errorf("it is not YAML%s", at)
	}
	if n.Kind != yaml.DocumentNode || len(n.Content) != 1 || n.Content[0].Kind != yaml.MappingNode {
		return d, fmt.Errorf("it is not a mapping")
	}
	d.root = n.Content[0]
	if err := check(d.root, 0); err != nil {
		return d, err
	}
	d.id = ID{Kind: textOf(d.root, "kind")}
	if d.id.Kind != "" {
		d.id.APIVersion, d.id.Name = textOf(d.root, "apiVersion"), textOf(d.root, "name")
	}
	return d, nil
}

// deepest is how deep collections may lie in each other.
const deepest = 200

// check refuses what cannot be compared place by place.
func check(n *yaml.Node, depth int) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return fmt.Errorf("it has an alias in line %d: write the value out", n.Line)
	case depth > deepest:
		return fmt.Errorf("it is too deep in line %d", n.Line)
	}
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if child.Kind != yaml.ScalarNode {
				return fmt.Errorf("it has a key that is not a text in line %d", child.Line)
			}
			if seen[child.Value] {
				return fmt.Errorf("it has a key twice in line %d", child.Line)
			}
			seen[child.Value] = true
			continue
		}
		if err := check(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// textOf is the text of a key of the root.
func textOf(root *yaml.Node, key string) string {
	if v := child(root, key); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

// child is the value of a key of a mapping, nil if there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// find is the document of an id, nil if there is none.
func (c *Config) find(id ID) *document {
	if i := slices.IndexFunc(c.docs, func(d document) bool { return d.id == id }); i >= 0 {
		return &c.docs[i]
	}
	return nil
}

// kind is the first document of a kind, nil if there is none.
func (c *Config) kind(kind string) *document {
	if i := slices.IndexFunc(c.docs, func(d document) bool { return d.id.Kind == kind }); i >= 0 {
		return &c.docs[i]
	}
	return nil
}

// at is the value below some keys, nil if there is none.
func at(n *yaml.Node, keys ...string) *yaml.Node {
	for _, k := range keys {
		n = child(n, k)
	}
	return n
}
