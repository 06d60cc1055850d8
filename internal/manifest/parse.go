package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamlerror"
)

// maxSize is far more than the largest set of CRDs that projects release.
const maxSize = 32 << 20

// Parse reads the objects of a file: YAML documents or JSON, as Kubernetes
// reads them. Lists are taken apart and empty documents left out. Keys that are
// there twice, and documents that are no objects, are problems with their
// place; all of them are reported. file is for those places alone.
func Parse(file string, text []byte) ([]Object, error) {
	objects, _, err := parse(&reader{file: file}, text)
	return objects, err
}

// ParseLoose is [Parse] for files that others wrote: keys that are there twice
// are warnings, and the last one counts, as for Helm and kubectl.
func ParseLoose(file string, text []byte) ([]Object, diag.List, error) {
	return parse(&reader{file: file, loose: true}, text)
}

func parse(r *reader, text []byte) ([]Object, diag.List, error) {
	located, err := locate(r, text)
	if err != nil {
		return nil, nil, err
	}
	var objects []Object
	for _, l := range located {
		objects = append(objects, l.Object)
	}
	return objects, r.warnings, nil
}

// LocateAny is [Parse] with the places of the objects, for a file that may hold
// something else: documents that are no maps, or have no apiVersion, kind or
// metadata, are left out.
func LocateAny(file string, text []byte) ([]Located, error) {
	return locate(&reader{file: file, any: true}, text)
}

func locate(r *reader, text []byte) ([]Located, error) {
	if len(text) > maxSize {
		return nil, diag.New(diag.Pos{File: r.file}, "the file is larger than %d MiB", maxSize>>20)
	}
	var objects []Located
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.problems.Add(yamlerror.Syntax(r.file, text, err))
			break // nothing after it can be trusted
		}
		objects = append(objects, r.document(&doc)...)
	}
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	return objects, nil
}

// document reads the objects of one document.
func (r *reader) document(doc *yaml.Node) []Located {
	root := doc
	if doc.Kind == yaml.DocumentNode {
		if len(doc.Content) == 0 {
			return nil
		}
		root = doc.Content[0]
	}
	before := len(r.problems)
	switch value := r.value(root, 0, false).(type) {
	case nil:
	case map[string]any:
		if len(r.problems) == before && len(value) > 0 {
			return r.objects(root, value)
		}
	default:
		if r.any {
			return nil
		}
		r.fail(root, "the document is no object").WithHint("a Kubernetes object is a map with apiVersion, kind and metadata")
	}
	return nil
}

// objects checks what every object has, and takes lists apart.
func (r *reader) objects(n *yaml.Node, object Object) []Located {
	if r.any && (object.APIVersion() == "" || object.Kind() == "" || object["metadata"] == nil) {
		return nil
	}
	items, isList := object["items"].([]any)
	if object.Kind() != "" && isList && strings.HasSuffix(object.Kind(), "List") && object.Name() == "" {
		return r.items(child(n, "items"), items)
	}
	for _, field := range []struct {
		name, value string
		in          Object
	}{
		{"apiVersion", object.APIVersion(), object}, {"kind", object.Kind(), object}, {"name", object.Name(), object.Metadata()},
	} {
		if field.value == "" {
			r.fail(n, "%s", missing(object, field.name, field.in[field.name] != nil)).WithHint("%s", hintMissing(object, field.name))
			return nil
		}
	}
	return []Located{{Object: object, Pos: diag.Pos{File: r.file, Line: n.Line, Column: n.Column}, node: n}}
}

// missing says that an object lacks a field, or has something else than a text
// in it.
func missing(o Object, field string, isThere bool) string {
	if field == "name" {
		field = "metadata.name"
	}
	switch {
	case isThere:
		return fmt.Sprintf("the %s of the object is no text", field)
	case o.Kind() == "":
		return fmt.Sprintf("the object has no %s", field)
	}
	return fmt.Sprintf("the %s has no %s", o.Kind(), field)
}

func hintMissing(o Object, field string) string {
	if field == "name" && o.Metadata().text("generateName") != "" {
		return "generateName makes a new object each time; give it a name"
	}
	if field == "name" && o.Metadata()[field] != nil {
		return "quote it: without quotes y, no and 1 are no texts"
	}
	return ""
}

func (r *reader) items(n *yaml.Node, items []any) (objects []Located) {
	for i, item := range items {
		at := n.Content[i]
		if m, ok := item.(map[string]any); ok {
			objects = append(objects, r.objects(at, m)...)
			continue
		}
		r.fail(at, "the item of the list is no object")
	}
	return objects
}

// child is the value of a key in a mapping, with aliases followed.
func child(n *yaml.Node, key string) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return follow(n.Content[i+1])
		}
	}
	return &yaml.Node{}
}

func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
