package apply

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
)

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool {
	return !slices.ContainsFunc(p.sections(), func(s planSection) bool { return !s.empty() })
}

// Unseen is the error that some nodes are not reached or do not run, with the
// exit code [diag.NotReady]; nil if all could be looked at. A plan without
// changes says nothing about them.
func (p *Plan) Unseen() error { return unreachable(p.Nodes) }

// Edited is the error that others own fields of objects in Kubernetes that Git has
// otherwise, with the exit code [diag.Conflict]; nil if nobody does. A plan without
// changes may have such objects, and they do not keep another one from being
// executed.
func (p *Plan) Edited() error {
	if p.Kubernetes == nil {
		return nil
	}
	return p.Kubernetes.Edited()
}

// Unsent is the error that nodes keep all of their configuration because Git's
// is of another contract, with the exit code [diag.Differences]; nil if none does.
// A plan without changes may have such nodes: what else Git has changed for them
// is not known, and does not take effect.
func (p *Plan) Unsent() error { return unsent(p.Nodes) }

// remains is the error about what no run changes: what is unseen, what others
// have edited, and what is not sent; nil if there is nothing.
func (p *Plan) remains() error {
	var problems diag.List
	for _, s := range p.sections() {
		problems.AddErr(s.remains())
	}
	return problems.Err()
}

// Refused reports whether something must not be done.
func (p *Plan) Refused() bool { return slices.ContainsFunc(p.sections(), planSection.refused) }

// Executable reports whether nothing is refused and every consent is given, in
// every section.
func (p *Plan) Executable() bool { return notExecutable(p) == nil }

// Blocked is the error that says why the plan must not be executed, each reason once;
// nil if nothing is refused and every consent is given. What others have edited in
// Kubernetes is such a reason too, for what depends on it.
func (p *Plan) Blocked() error {
	var problems diag.List
	problems.AddErr(notExecutable(p))
	problems.AddErr(p.Edited())
	return problems.Err()
}

// Consents are the flags that give the consent that is missing.
func (p *Plan) Consents() (flags []string) {
	for _, s := range p.sections() {
		flags = append(flags, s.consents()...)
	}
	return flags
}

// Saved is a plan in a file.
type Saved struct {
	cloudplan.Saved
	Nodes      *nodeplan.Saved `json:"nodes,omitempty"`
	Kubernetes *kubeplan.Saved `json:"kubernetes,omitempty"`
}

// Save writes the plan for a file that [LoadPlan] reads. It holds no secrets.
func (p *Plan) Save() ([]byte, error) {
	s := Saved{Saved: p.Plan.Saved()}
	if p.Nodes != nil {
		s.Nodes = p.Nodes.Save(p.kept, p.node)
	}
	if p.Kubernetes != nil {
		s.Kubernetes = p.Kubernetes.Save(p.objects)
	}
	return plan.Encode(s)
}

// LoadPlan reads a plan that [Plan.Save] wrote; file is its name, for errors.
func LoadPlan(file string, text []byte) (*Saved, error) {
	var s Saved
	if err := plan.Decode(file, text, &s); err != nil {
		return nil, err
	}
	if s.Nodes != nil && s.Nodes.Plan == nil || s.Kubernetes != nil && s.Kubernetes.Plan == nil {
		return nil, diag.New(diag.Pos{File: file}, "a section of it holds no plan").WithHint("make it again: talosgen plan <env> --out <file>")
	}
	return &s, s.Check(file)
}

// refused says what must not be done. A reason that several objects share is
// given once.
func refused(notes []plan.Note) error {
	var problems diag.List
	first := map[string]*diag.Problem{}
	more := map[string]int{}
	for _, n := range notes {
		if first[n.Text] != nil {
			more[n.Text]++
			continue
		}
		object := string(n.Key)
		if object == "" {
			object = "plan"
		}
		first[n.Text] = diag.On(object, "%s", n.Text).WithHint("%s", n.Hint)
		problems.Add(first[n.Text])
	}
	for text, n := range more {
		first[text].Object += fmt.Sprintf(" and %d more", n)
	}
	return problems.Err()
}

// sections are those that a plan has, in the order of their stages.
func (p *Plan) sections() (all []planSection) {
	if p.Plan != nil {
		all = append(all, cloudSection{p.Plan})
	}
	if p.Nodes != nil {
		all = append(all, nodeSection{p.Nodes, p.review().Removals()})
	}
	if p.Recreate != nil {
		all = append(all, recreateSection{p.Recreate})
	}
	if p.Kubernetes != nil {
		all = append(all, kubeSection{p.Kubernetes})
	}
	return all
}

// notExecutable says why a plan must not be executed, each reason once.
func notExecutable(p *Plan) error {
	var notes []plan.Note
	var problems diag.List
	for _, s := range p.sections() {
		notes = append(notes, s.refusals()...)
	}
	problems.AddErr(refused(notes))
	for _, s := range p.sections() {
		problems.AddErr(s.problems())
	}
	return problems.Err()
}
