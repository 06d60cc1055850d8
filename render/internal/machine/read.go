package machine

import (
	"errors"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// ReadConfig reads a whole machine configuration as strictly as Talos does. Errors
// repeat no values: the text may hold secrets anywhere.
func ReadConfig(file string, data []byte) (*Config, error) {
	docs, err := parseDocuments(file, data)
	if err != nil {
		return nil, err
	}
	hide := patchLoader{src: Source{File: file, Encrypted: []byte{}}}
	c := &Config{}
	var problems diag.List
	for _, root := range docs {
		if p := readable(file, root); p != nil {
			problems.Add(p)
			continue
		}
		d, err := readDocument(file, root)
		switch {
		case err != nil:
			problems.AddErr(hide.masked(err, true))
		case c.index(d.ID) >= 0:
			problems.Add(diag.New(nodePos(file, root), "a second document %s", d.ID))
		default:
			c.docs = append(c.docs, d)
		}
	}
	if len(docs) == 0 {
		problems.Add(diag.New(diag.Pos{File: file}, "is empty"))
	}
	return c, problems.Err()
}

// readable refuses what cannot be read as a document at all.
func readable(file string, root *yaml.Node) *diag.Problem {
	switch {
	case root.Kind != yaml.MappingNode:
		return diag.New(nodePos(file, root), "a machine configuration is made of mappings, this is %s", describeNode(root))
	case expandedSize(root, map[*yaml.Node]int{}) > largestExpansion:
		return diag.New(nodePos(file, root), "with its aliases written out the document is too large, or without end")
	}
	return nil
}

// readDocument reads one document; one of a kind that the library does not know as it
// is.
func readDocument(file string, root *yaml.Node) (*Document, error) {
	id := idOf(root)
	typed, err := decodeNode(file, id, root)
	if !errors.Is(err, errUnknownKind) {
		return &Document{ID: id, typed: typed}, err
	}
	text, err := yaml.Marshal(withoutComments(root))
	if err != nil || id.APIVersion == "" || id.Kind == "" {
		return nil, diag.New(nodePos(file, root), "not a document of a machine configuration")
	}
	return &Document{ID: id, text: text}, nil
}
