package rehearsal

import (
	"slices"
	"strings"
)

// Conclude says what a rehearsal comes to, by why the run would not begin, why it
// ended before its end, and what it left as it was, such as what waits for consent.
func (r *Report) Conclude(refused, failed, left []string) {
	r.Problems = append(r.Problems, slices.Concat(refused, failed, left)...)
	if r.Command == Destroy && len(refused)+len(failed) == 0 {
		r.end()
	}
	suffers := len(r.Gaps) + len(r.Budgets) + len(r.Nowhere)
	for _, w := range r.Workloads {
		if w.Zero > 0 || w.Stays {
			suffers++
		}
	}
	switch {
	case len(refused) > 0:
		r.Result = Refused
	case len(failed) > 0:
		r.Result = Failed
	case len(r.Risks)+len(left)+suffers > 0:
		r.Result = Risks
	default:
		r.Result = Clear
	}
	if r.has(func(s Step) bool { return s.Stage == "kubernetes" }) {
		r.Unseen = append(r.Unseen, "the pods of workloads that are changed: they stay as they are")
	}
	if r.has(func(s Step) bool { return s.Stage == "upgrade" && strings.HasPrefix(s.Name, "manifests ") }) {
		r.Unseen = append(r.Unseen, "what Talos itself keeps in Kubernetes, such as CoreDNS: the run has the step manifests only if that differs")
	}
	if len(r.Steps) > 0 {
		r.Unseen = append(r.Unseen, "what installers, kernels and programs in pods do; how long pods take to end")
	}
}

// Destroy is the command after which there is no cluster.
const Destroy = "destroy"

// end notes that the cluster ends: its pods and its control plane do not come back, and
// that is what was asked for.
func (r *Report) end() {
	r.ends = true
	r.Nowhere = r.Nowhere[:0]
}

// has reports whether there is such a step.
func (r *Report) has(such func(Step) bool) bool { return slices.ContainsFunc(r.Steps, such) }
