package cloud

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/apply/plan"
)

// changeBuilder is a change while it is collected.
type changeBuilder struct {
	Change
	hints []string // what to do about a refused field
}

func buildChange(kind Kind, name string, id int64, action Action) *changeBuilder {
	return &changeBuilder{Change: Change{Key: KeyOf(kind, name), Kind: kind, Name: name, ID: id, Action: action}}
}

// differ adds a field if from is not to.
func (d *changeBuilder) differ(name, from, to, reason string) {
	if from != to {
		d.field(Field{Name: name, from: from, to: to, Class: InPlace, Reason: reason})
	}
}

// field adds a field.
func (d *changeBuilder) field(f Field) {
	f.Edit = editOf(f.from != "", f.to != "")
	d.Fields = append(d.Fields, f)
}

// show adds a field of a creation, for people to read.
func (d *changeBuilder) show(name, to string) {
	if to != "" {
		d.field(Field{Name: name, to: to, Class: InPlace})
	}
}

// refuse adds a field that apply does not change.
func (d *changeBuilder) refuse(f Field, hint string, args ...any) {
	f.Class = Refused
	d.field(f)
	d.hints = append(d.hints, fmt.Sprintf(hint, args...))
}

// needs adds objects that must be there before. Those that nothing has to be
// done about are dropped at the end.
func (d *changeBuilder) needs(keys ...plan.Key) { d.Needs = append(d.Needs, keys...) }

// after adds objects that must be gone before, or at least have left.
func (d *changeBuilder) after(keys ...plan.Key) { d.gone = append(d.gone, keys...) }

func orNone(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// classes in order of their weight.
var classes = []Class{InPlace, PowerOff, Replacement, Refused}

func worse(a, b Class) Class {
	return classes[max(slices.Index(classes, a), slices.Index(classes, b))]
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

func idText(id int64) string { return strconv.FormatInt(id, 10) }
