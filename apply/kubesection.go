package apply

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/apply/summary"
)

// kubeSection is what has to be done in Kubernetes.
type kubeSection struct{ *kubeplan.Plan }

func (k kubeSection) empty() bool           { return len(k.Changes()) == 0 }
func (k kubeSection) refused() bool         { return k.Refused() }
func (k kubeSection) refusals() []plan.Note { return nil }
func (k kubeSection) problems() error       { return k.Problems() }
func (k kubeSection) remains() error        { return k.Edited() }

func (k kubeSection) consents() (flags []string) {
	for _, s := range k.Steps {
		if !s.Allowed {
			flags = append(flags, "--allow", string(s.Key))
		}
	}
	return flags
}

func (k kubeSection) left(r *Report) []summary.Item {
	return objectItems(slices.DeleteFunc(slices.Clone(k.Changes()), func(o kubeplan.Step) bool {
		return slices.ContainsFunc(r.Objects, func(d kubeplan.Step) bool { return d.Key == o.Key && d.Action == o.Action })
	}))
}

// objectItems are steps with objects as reports list them.
func objectItems(objects []kubeplan.Step) (all []summary.Item) {
	for _, o := range objects {
		stage := summary.Kubernetes
		if slices.Contains([]kubeplan.Stage{kubeplan.Keys, kubeplan.Flux, kubeplan.ArgoCD, kubeplan.Sources}, o.Stage) {
			stage = summary.Flux
		}
		all = append(all, summary.Item{Stage: stage, Action: string(o.Action), Object: string(o.Key)})
	}
	return all
}
