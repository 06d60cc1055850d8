package cloud

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
)

// Field is one difference between an object and what is desired of it. What the
// values are, an executor reads where they have a type: from what is desired, and
// from what was observed.
type Field struct {
	// The name of a field of infrastructure.yaml: services.
	Name string
	// Which element of a list or map; empty for a plain field. Lists of services
	// by listenPort, targets by selector, firewalls by name, labels by key.
	Item string
	// What becomes of it. A plan that was loaded from a file does not have it.
	Edit   Edit
	Class  Class
	Reason string

	// What there is, and what there should be, for people; empty: nothing.
	from, to string
}

// Edit is what becomes of a field.
type Edit string

// The edits.
const (
	Add    Edit = "add"    // there is nothing yet
	Set    Edit = "set"    // there is something else
	Remove Edit = "remove" // nothing should be there
)

func editOf(is, should bool) Edit {
	switch {
	case !is:
		return Add
	case !should:
		return Remove
	default:
		return Set
	}
}

// changes reports whether a change, which may be nil, changes a field.
func (c *Change) changes(name string) bool {
	return c != nil && slices.ContainsFunc(c.Fields, func(f Field) bool { return f.Name == name && f.Class != Refused })
}

// path is what people read: the name of the field, with the element of a list in
// brackets: services[6443], rules[…], labels.role.
func (f Field) path() string {
	if f.Item == "" {
		return f.Name
	}
	if f.Name == FieldLabels || f.Name == FieldReverseDNS {
		return f.Name + "." + f.Item
	}
	return f.Name + "[" + f.Item + "]"
}

// written is a field in JSON.
type written struct {
	Name   string `json:"name"`
	Item   string `json:"item,omitempty"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Class  Class  `json:"class"`
	Reason string `json:"reason,omitempty"`
}

// JSONShape is what a field is written as.
func (Field) JSONShape() any { return written{} }

// MarshalJSON writes the field with what people read of its values.
func (f Field) MarshalJSON() ([]byte, error) {
	return plan.Encode(written{Name: f.Name, Item: f.Item, From: f.from, To: f.to, Class: f.Class, Reason: f.Reason})
}

// UnmarshalJSON reads a field of a saved plan, strictly.
func (f *Field) UnmarshalJSON(text []byte) error {
	var w written
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return err
	}
	*f = Field{Name: w.Name, Item: w.Item, Class: w.Class, Reason: w.Reason, from: w.From, to: w.To}
	return nil
}
