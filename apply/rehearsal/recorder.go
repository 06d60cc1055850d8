package rehearsal

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/sorting"
)

// Recorder notes how a run goes on, a simulated one or a real one. It may be used by several
// goroutines.
type Recorder struct {
	Now func() time.Time

	mu    sync.Mutex
	began time.Time
	last  time.Time
	steps []recorded
}

// recorded is a step, or a stage without steps.
type recorded struct {
	stage, name string
	from, to    time.Time
	done        bool
	failed      bool
}

// Event notes an event of the run.
func (r *Recorder) Event(e progress.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Now()
	if r.began.IsZero() {
		r.began = now
	}
	r.last = now
	if e.Step == "" {
		return
	}
	switch i := r.running(e); {
	case e.State == progress.Begun:
		r.steps = append(r.steps, recorded{stage: e.Stage, name: e.Step, from: now, to: now})
	case i < 0:
	case e.State == progress.Done || e.State == progress.Waited:
		r.steps[i].to, r.steps[i].done = now, true
	case e.State == progress.Failed || e.State == progress.Interrupted:
		r.steps[i].to, r.steps[i].done, r.steps[i].failed = now, true, true
	}
}

// Began is when the first event was; zero: there was none.
func (r *Recorder) Began() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.began
}

// running is the step of an event that goes on; -1: there is none.
func (r *Recorder) running(e progress.Event) int {
	for i := len(r.steps) - 1; i >= 0; i-- {
		if s := r.steps[i]; s.stage == e.Stage && s.name == e.Step && !s.done {
			return i
		}
	}
	return -1
}

// Change is a new number of pods of a workload that are ready.
type Change struct {
	Kind, Namespace, Name string
	Ready, Wants          int64
	At                    time.Time
}

// Moment is how the control plane is from a time on.
type Moment struct {
	At     time.Time
	API    bool // whether anybody serves the Kubernetes API
	Quorum bool
}

// Refusal is an eviction that a budget did not allow.
type Refusal struct {
	Namespace, Budget, Pod string
	At                     time.Time
}

// Seen is what was seen of the simulated cluster meanwhile. Of each workload, the first
// change is how it was found.
type Seen struct {
	Changes []Change
	Moments []Moment
	Refused []Refusal
	// Why pods, namespace/name, were on no node.
	Nowhere map[string]string
	// Until when somebody looked.
	Until time.Time
}

// Report puts together what came of a run that has ended.
func (r *Recorder) Report(seen Seen) *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	report := &Report{
		Problems: []string{}, Risks: []Risk{}, Steps: []Step{}, Workloads: []Workload{}, Gaps: []Gap{}, Budgets: []Budget{}, Nowhere: []Nowhere{}, Unseen: []string{},
		Seconds: r.last.Sub(r.began).Seconds(),
	}
	falls := fallsOf(seen.Changes)
	all := tried(r.steps)
	for i := range all {
		if !all[i].done {
			all[i].to = r.last
		}
	}
	for _, s := range all {
		step := Step{Stage: s.stage, Name: s.name, At: s.from.Sub(r.began).Seconds(), Seconds: s.to.Sub(s.from).Seconds(), Disturbs: []string{}, Failed: s.failed}
		for _, f := range falls {
			if s.covers(f.at) && !slices.Contains(step.Disturbs, f.of) && !slices.ContainsFunc(all, func(o recorded) bool { return o.from.Before(s.from) && o.to.Equal(f.at) && s.from.Equal(f.at) }) {
				step.Disturbs = append(step.Disturbs, f.of)
			}
		}
		report.Steps = append(report.Steps, step)
	}
	report.Workloads = append(report.Workloads, workloads(seen.Changes, seen.Until)...)
	report.Gaps = append(report.Gaps, gaps(seen.Moments, r.began, seen.Until)...)
	report.Budgets = append(report.Budgets, budgets(seen.Refused)...)
	for pod, why := range seen.Nowhere {
		report.Nowhere = append(report.Nowhere, Nowhere{pod, why})
	}
	sorting.By(report.Nowhere, func(a, b Nowhere) int { return cmp.Compare(a.Pod, b.Pod) })
	return report
}

// covers reports whether a step goes on at a moment.
func (s recorded) covers(at time.Time) bool { return !at.Before(s.from) && !at.After(s.to) }

// tried are steps of which those that fail and are tried again are one.
func tried(steps []recorded) (all []recorded) {
	for _, s := range steps {
		i := slices.IndexFunc(all, func(o recorded) bool { return o.failed && o.stage == s.stage && o.name == s.name })
		if i < 0 {
			all = append(all, s)
			continue
		}
		all[i].to, all[i].done, all[i].failed = s.to, s.done, s.failed
	}
	return all
}

// fall is the moment at which a workload loses a pod.
type fall struct {
	of string
	at time.Time
}

func fallsOf(changes []Change) (all []fall) {
	last := map[string]int64{}
	for _, c := range changes {
		name := c.Kind + " " + c.Namespace + "/" + c.Name
		if before, known := last[name]; known && c.Ready < before {
			all = append(all, fall{name, c.At})
		}
		last[name] = c.Ready
	}
	return all
}

// workloads are those that suffer, those that have no pod for the longest first. What
// somebody wants no pods of any more does not suffer.
func workloads(changes []Change, end time.Time) (all []Workload) {
	type id struct{ kind, namespace, name string }
	of := map[id][]Change{}
	var order []id
	for _, c := range changes {
		key := id{c.Kind, c.Namespace, c.Name}
		if of[key] == nil {
			order = append(order, key)
		}
		of[key] = append(of[key], c)
	}
	for _, key := range order {
		w := Workload{Kind: key.kind, Namespace: key.namespace, Name: key.name}
		found := of[key][0] // it may have been below before
		w.Wants, w.Lowest = found.Wants, found.Ready
		for i, c := range of[key] {
			until := end
			if i+1 < len(of[key]) {
				until = of[key][i+1].At
			}
			lasts := max(until.Sub(c.At), 0).Seconds()
			if c.Wants == 0 || c.Ready >= c.Wants || c.Ready >= found.Ready {
				continue
			}
			w.Lowest = min(w.Lowest, c.Ready)
			w.Below += lasts
			if c.Ready == 0 {
				w.Zero += lasts
			}
			w.Stays = i+1 == len(of[key])
		}
		if w.Below > 0 || w.Stays {
			all = append(all, w)
		}
	}
	sorting.By(all, func(a, b Workload) int { return cmp.Or(cmp.Compare(b.Zero, a.Zero), cmp.Compare(b.Below, a.Below)) })
	return all
}

// gaps are the times at which a control plane that was well is not.
func gaps(moments []Moment, began, end time.Time) (all []Gap) {
	for _, of := range []struct {
		what string
		is   func(Moment) bool
	}{{"Kubernetes API", func(m Moment) bool { return m.API }}, {"quorum of etcd", func(m Moment) bool { return m.Quorum }}} {
		var since time.Time
		for i, m := range moments {
			switch {
			case i == 0 && !of.is(m):
				since = began
			case !of.is(m) && since.IsZero():
				since = m.At
			case of.is(m) && !since.IsZero():
				all = append(all, Gap{What: of.what, At: since.Sub(began).Seconds(), Seconds: m.At.Sub(since).Seconds()})
				since = time.Time{}
			}
		}
		if !since.IsZero() && since.Before(end) {
			all = append(all, Gap{What: of.what, At: since.Sub(began).Seconds(), Seconds: end.Sub(since).Seconds(), Stays: true})
		}
	}
	return all
}

// budgets are those that refused an eviction.
func budgets(refused []Refusal) (all []Budget) {
	first := map[string]time.Time{}
	for _, r := range refused {
		key := r.Namespace + "/" + r.Budget
		i := slices.IndexFunc(all, func(b Budget) bool { return b.Namespace == r.Namespace && b.Name == r.Budget })
		if i < 0 {
			first[key] = r.At
			all = append(all, Budget{Namespace: r.Namespace, Name: r.Budget, Pods: []string{}})
			i = len(all) - 1
		}
		all[i].Refusals++
		all[i].Seconds = r.At.Sub(first[key]).Seconds()
		if !slices.Contains(all[i].Pods, r.Pod) {
			all[i].Pods = append(all[i].Pods, r.Pod)
		}
	}
	return all
}
