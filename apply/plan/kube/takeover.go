package kube

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
)

// leaving are the field managers of programs that once applied objects by hand,
// or from elsewhere, and that nothing runs any more once Git and Flux do. What
// they own stays for ever otherwise: neither talosgen nor Flux may remove it. A
// name that ends with * is a prefix.
var leaving = []string{
	"kubectl*", "before-first-apply", // by hand
	"helm", "terraform-provider-helm*", // charts
	"Terraform", "HashiCorp", "terraform-provider-kubernetes*", "pulumi*",
	"flux", "talos", "talosgen",
	ManagerFlux, ManagerArgoCD, // of what is not theirs any more
}

// leaves reports whether a manager is one of those.
func leaves(manager string) bool {
	return slices.ContainsFunc(leaving, func(l string) bool {
		prefix, isPrefix := strings.CutSuffix(l, "*")
		return manager == l || isPrefix && strings.HasPrefix(manager, prefix)
	})
}

// leftOf are the managers, other than the item's own, whose fields its owner has
// to have.
func leftOf(item Item, live Object) (managers []string) {
	for _, e := range Entries(live) {
		own := e.Manager == item.Manager() && e.Operation == applyOperation
		if e.Subresource != "" || own || !leaves(e.Manager) || slices.Contains(managers, e.Manager) {
			continue
		}
		managers = append(managers, e.Manager)
	}
	slices.Sort(managers)
	return managers
}

// Takeover plans to give the fields that older programs own to the owner that
// each object has in Git. Nothing of an object changes by that; what Git does
// not have goes when its owner applies it next. Objects that Flux looks after
// without Git knowing are conflicts.
func Takeover(desired Desired, observed Observed) *Plan {
	m := &planner{observed: observed, plan: &Plan{
		Cluster: desired.Cluster, API: observed.API, Steps: []Step{}, Reads: []plan.Digest{},
		before: observed.Inventory, inventory: observed.Inventory,
	}}
	for _, item := range desired.sorted() {
		id := item.ID()
		live := observed.live(id)
		if live == nil {
			continue
		}
		s := Step{
			Key: keyOf(id), Action: Unchanged, Stage: item.Stage, Owner: item.Owner(), File: item.File,
			Others: leftOf(item, live), Allowed: true, id: id, item: &item, live: live,
		}
		if other := m.otherOwner(&item, live); other.name != "" {
			s.Action, s.Reason = Conflict, fmt.Sprintf("%s of %s has it", other, other.engine)
			s.Others, s.rival = nil, other
		} else if len(s.Others) > 0 {
			s.Action = TakeOver
		}
		m.plan.Steps = append(m.plan.Steps, s)
	}
	m.reads()
	return m.plan
}

func equal(a, b map[string]any) bool { return reflect.DeepEqual(a, b) }
