package cloud

import (
	"fmt"

	"github.com/talosgen/talosgen/apply/plan"
)

// Addition is a label that a change adds to an object that is there.
type Addition struct {
	Object plan.Key
	Key    string // of the label
	Text   string // the label as people write it: key=value
}

// Additions splits a plan into the labels that it adds, the objects that it makes, and
// everything else that it does, for people. That the objects become the cluster's is no
// change of them.
func (p *Plan) Additions() (labels []Addition, made []plan.Key, others []string) {
	for _, c := range p.Changes {
		switch c.Action {
		case Create:
			made = append(made, c.Key)
			continue
		case Update:
		default:
			others = append(others, fmt.Sprintf("%s %s", c.Action, c.Key))
			continue
		}
		for _, f := range c.Fields {
			switch {
			case f.Class == Refused: // it is among the refusals
				continue
			case f.Name == FieldLabels && f.Edit == Add:
				labels = append(labels, Addition{c.Key, f.Item, f.Item + "=" + f.to})
				continue
			}
			others = append(others, fmt.Sprintf("%s: %s is %s, and would be %s", c.Key, f.path(), orNone(f.from), orNone(f.to)))
		}
	}
	for _, n := range p.Refusals {
		others = append(others, fmt.Sprintf("%s: %s", n.Key, n.Text))
	}
	return labels, made, others
}
