package cloud

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/apply/plan"
)

// draft is a change while it is collected.
type draft struct {
	Change
	hints []string // what to do about a refused field
}

func (m *maker) draft(kind Kind, name string, id int64, action Action) *draft {
	return &draft{Change: Change{Key: KeyOf(kind, name), Kind: kind, Name: name, ID: id, Action: action}}
}

// differ adds a field if from is not to.
func (d *draft) differ(name, from, to, reason string) {
	if from != to {
		d.field(Field{Name: name, from: from, to: to, Class: InPlace, Reason: reason})
	}
}

// field adds a field.
func (d *draft) field(f Field) {
	f.Edit = editOf(f.from != "", f.to != "")
	d.Fields = append(d.Fields, f)
}

// show adds a field of a creation, for people to read.
func (d *draft) show(name, to string) {
	if to != "" {
		d.field(Field{Name: name, to: to, Class: InPlace})
	}
}

// refuse adds a field that apply does not change.
func (d *draft) refuse(f Field, hint string, args ...any) {
	f.Class = Refused
	d.field(f)
	d.hints = append(d.hints, fmt.Sprintf(hint, args...))
}

// needs adds objects that must be there before. Those that nothing has to be
// done about are dropped at the end.
func (d *draft) needs(keys ...plan.Key) { d.Needs = append(d.Needs, keys...) }

// after adds objects that must be gone before, or at least have left.
func (d *draft) after(keys ...plan.Key) { d.gone = append(d.gone, keys...) }

// add takes a draft into the plan, unless it is an update of nothing.
func (m *maker) add(d *draft) {
	if d.Action == Update && len(d.Fields) == 0 {
		return
	}
	d.Class = InPlace
	if d.Action == Replace {
		d.Class = Replacement
	}
	for _, f := range d.Fields {
		d.Class = worse(d.Class, f.Class)
	}
	if d.Class == Refused {
		m.refuseFields(d)
	}
	m.consent(&d.Change)
	m.plan.Changes = append(m.plan.Changes, d.Change)
}

func (m *maker) refuseFields(d *draft) {
	hint := 0
	for _, f := range d.Fields {
		if f.Class != Refused {
			continue
		}
		text := fmt.Sprintf("%s cannot become %s, it is %s", f.path(), orNone(f.to), orNone(f.from))
		if f.Reason != "" {
			text += ": " + f.Reason
		}
		m.refusal(d.Key, text, d.hints[hint])
		hint++
	}
}

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

// consent sets what a change takes, and whether the policy has it. Whoever
// agrees that an object is destroyed agrees that it is powered off.
func (m *maker) consent(c *Change) {
	switch {
	case c.Consent != plan.NoConsent: // destroy has set it
	case c.Destructive:
		c.Consent, c.Allowed = plan.ConsentDestroy, m.policy.Destroys(c.Key, c.Name)
	case c.Class == PowerOff:
		c.Consent, c.Allowed = plan.ConsentPowerOff, m.policy.PowersOff(c.Key, c.Name)
	default:
		c.Allowed = true
	}
}

// refusal adds a reason why the plan must not be executed.
func (m *maker) refusal(key plan.Key, text, hint string) {
	m.plan.Refusals = append(m.plan.Refusals, plan.Note{Key: key, Text: text, Hint: hint})
}

// warn adds a remark.
func (m *maker) warn(key plan.Key, text, hint string) {
	m.plan.Warnings = append(m.plan.Warnings, plan.Note{Key: key, Text: text, Hint: hint})
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

func idText(id int64) string { return strconv.FormatInt(id, 10) }
