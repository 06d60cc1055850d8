package legacy

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// documents are the documents of the converted patch besides the legacy one:
// those that were in the file, and those that the conversion makes. Several
// legacy fields that moved to one document meet in it.
type documents struct {
	list []*document
}

// document is one of them.
type document struct {
	kind, name string
	root       *yaml.Node
	made       bool // by the conversion
}

// add registers a document of the file.
func (d *documents) add(root *yaml.Node) {
	if kind := text(root, "kind"); kind != "" {
		d.list = append(d.list, &document{kind: kind, name: text(root, "name"), root: root})
	}
}

// find returns the document, making it if need be; origin is the legacy key
// that it is made for.
func (d *documents) find(kind, name string, origin *yaml.Node) *document {
	for _, doc := range d.list {
		if doc.kind == kind && doc.name == name {
			return doc
		}
	}
	place := func(n *yaml.Node) *yaml.Node {
		n.Line, n.Column = origin.Line, origin.Column
		return n
	}
	root := place(mapping(place(scalar("apiVersion")), place(scalar("v1alpha1")), place(scalar("kind")), place(scalar(kind))))
	if name != "" {
		root.Content = append(root.Content, place(scalar("name")), place(scalar(name)))
	}
	doc := &document{kind: kind, name: name, root: root, made: true}
	d.list = append(d.list, doc)
	return doc
}

// made returns the documents that the conversion made, from the index on.
func (d *documents) made(from int) []*document {
	var made []*document
	for _, doc := range d.list[from:] {
		if doc.made {
			made = append(made, doc)
		}
	}
	return made
}

// put sets a field, making the mappings on the way, and merging with what the
// document already says. It reports false if the two contradict each other.
func (doc *document) put(path []string, origin, value *yaml.Node) bool {
	if isDelete(doc.root) {
		return false
	}
	parent := doc.root
	for _, step := range path[:len(path)-1] {
		next := get(parent, step)
		if next == nil {
			key := scalar(step)
			next = mapping()
			key.Line, key.Column = origin.Line, origin.Column
			next.Line, next.Column = origin.Line, origin.Column
			parent.Content = append(parent.Content, key, next)
		}
		if !isMapping(next) || isDelete(next) {
			return false
		}
		parent = next
	}
	last := path[len(path)-1]
	if old := get(parent, last); old != nil {
		return merge(old, value)
	}
	parent.Content = append(parent.Content, at(scalar(last), origin), value)
	return true
}

// remove turns the document into its deletion. It reports false if the patch
// also sets fields of it.
func (doc *document) remove(origin *yaml.Node) bool {
	if isDelete(doc.root) {
		return true
	}
	for i := 0; i+1 < len(doc.root.Content); i += 2 {
		switch doc.root.Content[i].Value {
		case "apiVersion", "kind", "name":
		default:
			return false
		}
	}
	value := scalar("delete")
	value.Line, value.Column = origin.Line, origin.Column
	doc.root.Content = append(doc.root.Content, at(scalar("$patch"), origin), value)
	return true
}

// merge adds one value to another as two patches in a row would: mappings by
// key, lists by appending. It changes nothing and reports false if they
// contradict each other.
func merge(old, value *yaml.Node) bool {
	if !compatible(old, value) {
		return false
	}
	switch {
	case isDelete(old):
	case isMapping(old):
		for i := 0; i+1 < len(value.Content); i += 2 {
			key := value.Content[i]
			if there := get(old, key.Value); there != nil {
				merge(there, value.Content[i+1])
			} else {
				old.Content = append(old.Content, key, value.Content[i+1])
			}
		}
	case isSequence(old):
		old.Content = append(old.Content, value.Content...)
	}
	return true
}

// compatible reports whether two values for one field can both hold.
func compatible(old, value *yaml.Node) bool {
	switch {
	case isDelete(old) || isDelete(value):
		return isDelete(old) && isDelete(value)
	case old.Kind != value.Kind || old.ShortTag() != value.ShortTag():
		return false
	case isMapping(old):
		for i := 0; i+1 < len(value.Content); i += 2 {
			if there := get(old, value.Content[i].Value); there != nil && !compatible(there, value.Content[i+1]) {
				return false
			}
		}
		return true
	case isSequence(old):
		return true
	default:
		return old.Value == value.Value
	}
}

// hasTag reports whether there is a directive of talosgen's in a value.
func hasTag(n *yaml.Node) bool {
	return n.Tag == "!delete" || n.Tag == "!replace" || slices.ContainsFunc(n.Content, hasTag)
}

// oneLanguage writes Talos' deletions as talosgen's: fields that met in one
// document may have brought both, which do not mix.
func oneLanguage(n *yaml.Node) {
	for i, value := range n.Content {
		if text(value, "$patch") != "delete" {
			oneLanguage(value)
			continue
		}
		if isSequence(n) {
			take(value, "$patch")
			value.Tag, value.Style = "!delete", value.Style|yaml.TaggedStyle
			continue
		}
		n.Content[i] = at(deletion(), value)
	}
}
