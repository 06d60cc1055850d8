package cloud

import (
	"fmt"

	"github.com/talosgen/talosgen/apply/plan"
)

// Addition is a label that a change adds to an object that is there.
type Addition struct {
	Object plan.Key
	Label  string // key=value
}

// Additions splits a plan into the labels that it adds, and everything else that it
// does, for people. That the objects become the cluster's is no change of them.
func (p *Plan) Additions() (labels []Addition, others []string) {
	for _, c := range p.Changes {
		if c.Action != Update {
			others = append(others, fmt.Sprintf("%s %s", c.Action, c.Key))
			continue
		}
		for _, f := range c.Fields {
			switch {
			case f.Class == Refused: // it is among the refusals
				continue
			case f.Name == FieldLabels && f.Reason == labelMissing:
				labels = append(labels, Addition{c.Key, f.Item + "=" + f.to})
				continue
			}
			others = append(others, fmt.Sprintf("%s: %s is %s, and would be %s", c.Key, f.path(), orNone(f.from), orNone(f.to)))
		}
	}
	for _, n := range p.Refusals {
		others = append(others, fmt.Sprintf("%s: %s", n.Key, n.Text))
	}
	return labels, others
}
