package machine

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// ID identifies a document within a configuration, as Talos matches them.
type ID struct {
	APIVersion string // "" for the v1alpha1 document, which has no kind
	Kind       string
	Name       string // "" for kinds of which there is one
}

// mainKind is the kind by which Talos calls the document that has none.
const mainKind = "v1alpha1"

// MainID identifies the document with machine: and cluster:.
var MainID = ID{Kind: mainKind}

// IsMain reports whether this is the document with machine: and cluster:.
func (id ID) IsMain() bool { return id == MainID }

// String prints "v1alpha1", or the kind, with the name if there is one.
func (id ID) String() string {
	if id.Name == "" {
		return id.Kind
	}
	return id.Kind + "/" + id.Name
}

// idOf reads the identity of a parsed document: the strings of apiVersion,
// kind and name. A document without the first two is the main one.
func idOf(mapping *yaml.Node) ID {
	id := ID{APIVersion: scalarAt(mapping, "apiVersion"), Kind: scalarAt(mapping, "kind")}
	if id.Kind == "" && (id.APIVersion == "" || id.APIVersion == mainKind) {
		return MainID
	}
	id.Name = scalarAt(mapping, "name")
	return id
}

func scalarAt(mapping *yaml.Node, key string) string {
	if v := valueAt(mapping, key); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

// valueAt returns the value of a key, or nil.
func valueAt(mapping *yaml.Node, key string) *yaml.Node {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// typedID is idOf for a document of the library.
func typedID(d config.Document) ID {
	id := ID{APIVersion: d.APIVersion(), Kind: d.Kind()}
	if named, ok := d.(config.NamedDocument); ok {
		id.Name = named.Name()
	}
	return id
}

// Document is one document of a configuration. It does not change.
type Document struct {
	ID    ID
	typed config.Document // nil if the library does not know the kind
	// before is a document that this one was made of, to take text from.
	before *Document

	text     []byte
	sections sections // of the main document, with its text
	leaves   []yamltext.Leaf
}

// Text returns the document as YAML, without comments, in the style that Talos
// writes. It is encoded at the first call.
func (d *Document) Text() ([]byte, error) {
	if d.text == nil {
		if err := d.encode(); err != nil {
			return nil, fmt.Errorf("encoding %s: %w", d.ID, err)
		}
	}
	return d.text, nil
}

func (d *Document) encode() (err error) {
	main, ok := d.typed.(*v1alpha1.Config)
	if !ok {
		d.text, err = yaml.Marshal(d.typed)
		return err
	}
	var known sections
	if d.before != nil {
		known = d.before.sections
	}
	d.text, d.sections, err = encodeMain(main, known)
	return err
}

// Leaves returns the scalars of the text, which is rewritten first if it uses
// YAML that is not read leaf by leaf.
func (d *Document) Leaves() ([]yamltext.Leaf, error) {
	if d.leaves != nil {
		return d.leaves, nil
	}
	text, err := d.Text()
	if err != nil {
		return nil, err
	}
	leaves, err := yamltext.Leaves(text)
	if errors.Is(err, yamltext.ErrUnsupported) {
		if d.text, err = yamltext.Normalize(text); err == nil {
			leaves, err = yamltext.Leaves(d.text)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", d.ID.Kind, err)
	}
	d.leaves = leaves
	return leaves, nil
}

// knownKinds remembers the Go type of each document kind that was asked for, by
// its identity without a name. The library's registry is internal; a document
// that is loaded from its identity alone shows the type.
var knownKinds sync.Map // ID → reflect.Type

// errUnknownKind says that the library has no such kind of document.
var errUnknownKind = errors.New("unknown kind")

// newTyped returns an empty document of the identity's kind, or errUnknownKind.
func newTyped(id ID) (config.Document, error) {
	id.Name = ""
	known, ok := knownKinds.Load(id)
	if !ok {
		header := "version: v1alpha1\nmachine: {}\n"
		if !id.IsMain() {
			header = fmt.Sprintf("apiVersion: %q\nkind: %q\n", id.APIVersion, id.Kind)
		}
		loaded, err := configloader.NewFromBytes([]byte(header), configloader.WithNoValidation())
		if err != nil || len(loaded.Documents()) != 1 {
			return nil, errUnknownKind
		}
		known, _ = knownKinds.LoadOrStore(id, reflect.TypeOf(loaded.Documents()[0]).Elem())
	}
	doc, ok := reflect.New(known.(reflect.Type)).Interface().(config.Document) // only types are stored
	if !ok {
		return nil, errUnknownKind
	}
	return doc, nil
}
