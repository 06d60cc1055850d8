package cloud

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
)

// signs of the actions.
var signs = map[Action]string{Create: "+", Update: "~", Replace: "±", Delete: "-"}

// String prints the plan for people: what changes, why, what it takes and what
// it costs. It is the same for equal plans, to the byte, and holds no secrets:
// of user data only a digest.
func (p *Plan) String() string {
	w := &plan.Printer{}
	w.Line(0, "%s: %s", p.Cluster, p.Summary())
	if len(p.Changes) > 0 {
		w.Blank()
	}
	for _, c := range p.Changes {
		c.Write(w)
	}
	w.Paragraph("refused", p.Refusals)
	w.Consents(p.Ways())
	w.Paragraph("wait for consent to be recreated", p.Waiting())
	w.Paragraph("warnings", p.Warnings)
	w.Paragraph("left as it is", p.Left)
	p.Cost.Write(w)
	return w.String()
}

// Summary counts the changes in one line.
func (p *Plan) Summary() string {
	count := map[Action]int{}
	for _, c := range p.Changes {
		if c.Class != Refused {
			count[c.Action]++
		}
	}
	return plan.Summary("nothing to do", len(p.Refusals), plan.Count{N: count[Create], Text: "to create"},
		plan.Count{N: count[Update], Text: "to update"}, plan.Count{N: count[Replace], Text: "to replace"}, plan.Count{N: count[Delete], Text: "to delete"})
}

// Write prints the change: what becomes of which object, why, and its fields.
func (c *Change) Write(w *plan.Printer) {
	w.Object(0, signs[c.Action], "%s%s", c.Key, remarks(c))
	if c.Reason != "" && c.Action != Create {
		w.Line(4, "%s", c.Reason)
	}
	width := 0
	for _, f := range c.Fields {
		width = max(width, len(f.title()))
	}
	for _, f := range c.Fields {
		w.Line(4, "%-*s  %s%s", width, f.title(), f.transition(c.Action), f.remark(c))
	}
	if len(c.Candidates) > 1 {
		w.Line(4, "%-*s  %s", width, "or", alternatives(c.Candidates[1:]))
	}
}

// member reports whether a field is about an element of a set: that it is there
// is all that there is to say.
func (f Field) member() bool {
	return slices.Contains([]string{FieldRules, FieldApplyTo, FieldTargets, FieldFirewalls}, f.Name)
}

// title is the path of a field, without an element that follows.
func (f Field) title() string {
	if f.member() {
		return f.Name
	}
	return f.path()
}

// remarks are what is special about a change.
func remarks(c *Change) string {
	var texts []string
	if c.Class == PowerOff {
		texts = append(texts, "power-off")
	}
	if c.Class == Refused {
		texts = append(texts, "refused")
	}
	if c.Destructive && c.Action != Delete {
		texts = append(texts, "destructive")
	}
	if c.LiftProtection {
		texts = append(texts, "protected")
	}
	if !c.Allowed {
		texts = append(texts, "needs consent")
	}
	if len(texts) == 0 {
		return ""
	}
	return "  (" + strings.Join(texts, ", ") + ")"
}

// transition shows a field: what it becomes, or from what to what.
func (f Field) transition(action Action) string {
	from, to := f.from, f.to
	if f.member() && (from == "" || to == "") {
		from, to = memberText(from, f.Item), memberText(to, f.Item)
	}
	switch {
	case from == "" && (action == Create || action == Replace):
		return to
	case from == "":
		return "+ " + to
	case to == "":
		return "- " + from
	case f.member():
		return f.Item + ": " + from + " -> " + to
	default:
		return from + " -> " + to
	}
}

// memberText is the element, if it is there.
func memberText(text, item string) string {
	if text == "" {
		return ""
	}
	return item
}

func (f Field) remark(c *Change) string {
	var texts []string
	if f.Class != InPlace && c.Action == Update {
		texts = append(texts, string(f.Class))
	}
	if f.Reason != "" {
		texts = append(texts, f.Reason)
	}
	if len(texts) == 0 {
		return ""
	}
	return "  (" + strings.Join(texts, ": ") + ")"
}

func alternatives(list []Candidate) string {
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = c.Type + " in " + c.Location
		if !c.Available {
			texts[i] += " (sold out)"
		}
	}
	return strings.Join(texts, ", ")
}

// Ways are how each consent that is missing is given.
func (p *Plan) Ways() (ways []string) {
	for _, c := range p.Changes {
		if !c.Allowed {
			ways = append(ways, c.way())
		}
	}
	return ways
}

// way says how to agree to the change.
func (c *Change) way() string {
	return fmt.Sprintf(map[plan.ConsentKind]string{
		plan.ConsentDestroy: "--allow %s, or --allow-destroy for all", plan.ConsentPowerOff: "--allow %s, or --allow-power-off for all",
		plan.ConsentMade: "--allow %s, or --allow-made for all", plan.ConsentUnlock: "--yes-destroy with the name of the cluster lifts the protection of %s",
	}[c.Consent], c.Key)
}

// Why says why the change is made: its reason, or else the fields that need it.
func (c *Change) Why() string {
	if c.Reason != "" {
		return c.Reason
	}
	var texts []string
	for _, f := range c.Fields {
		if f.Class == c.Class || c.Class == InPlace {
			texts = append(texts, f.path()+" "+f.transition(c.Action))
		}
	}
	return strings.Join(texts, ", ")
}
