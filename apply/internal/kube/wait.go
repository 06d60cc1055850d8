package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// Readiness says whether an object is ready, and what it is waited for
// otherwise.
func Readiness(o kubeplan.Object) (ready bool, text string) {
	if o == nil {
		return false, "it is not there"
	}
	if kubeplan.IsApplication(o.ID()) {
		return synced(o)
	}
	flux := isFlux(o.ID().Group)
	if flux && o.Value("spec", "suspend") == true {
		return true, "" // Flux does not look at it, not even for the first time
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: o})
	if err != nil {
		return false, err.Error()
	}
	if result.Status != status.CurrentStatus {
		return false, cmp.Or(result.Message, string(result.Status))
	}
	// To kstatus an object without any condition is ready; Flux sets one as soon
	// as it has looked.
	if flux && !isNotification(o) && len(o.List("status", "conditions")) == 0 {
		return false, "Flux has not looked at it yet"
	}
	if o.IsFluxInstance() {
		return installed(o)
	}
	return true, ""
}

// synced tells whether Argo CD has made of an Application what it says, and all of it is
// healthy.
func synced(o kubeplan.Object) (ready bool, text string) {
	k := kubeplan.ReadApplication(o)
	if k.Ready || k.Suspended {
		return true, ""
	}
	return false, cmp.Or(k.Message, "Argo CD has not looked at it yet")
}

// installed tells whether the Flux Operator has installed what a FluxInstance says now.
func installed(o kubeplan.Object) (ready bool, text string) {
	k := kubeplan.ReadKustomization(o) // whose conditions are alike
	if k.Ready {
		return true, ""
	}
	return false, cmp.Or(k.Message, "the Flux Operator has not looked at it yet")
}

// ready waits until the objects of a stage are ready.
func (e *Executor) ready(ctx context.Context, stage kubeplan.Stage, steps []kubeplan.Step) error {
	observe := looked{client: e.Client, steps: awaited(steps)}
	waiting, err := observe.unready(ctx)
	within := cmp.Or(e.Waits.Stage, stageWithin)
	wait := e.Client.waitFor(within)
	name := "wait for " + string(stage)
	said := map[kubeplan.ID]string{}
	for err == nil && len(waiting) > 0 {
		if len(said) == 0 {
			e.Stage.Step(name, progress.Begun, "")
		}
		for _, w := range causes(waiting) {
			if said[w.id] != w.text {
				said[w.id] = w.text
				e.Stage.Step(name, progress.Note, nameOf(w.id)+": "+w.text)
			}
		}
		if given := stalled(waiting); len(given) > 0 {
			err = e.stuck(ctx, given, "will not become ready as it is")
			break
		}
		if wait.over() {
			err = e.stuck(ctx, causes(waiting), fmt.Sprintf("is not ready after %s", within))
			break
		}
		if err = wait.pause(ctx); err == nil {
			waiting, err = observe.unready(ctx)
		}
	}
	switch {
	case len(said) == 0:
	case err != nil:
		e.Stage.Step(name, progress.Failure(err), oneLine(err))
	default:
		e.Stage.Step(name, progress.Waited, "")
	}
	return err
}

// waited is an object that is not ready.
type waited struct {
	id   kubeplan.ID
	text string
	live kubeplan.Object
}

// causes are the objects that others wait for, and that wait for none of those
// themselves; all, if it is not known which these are.
func causes(waiting []waited) []waited {
	own := slices.DeleteFunc(slices.Clone(waiting), func(w waited) bool {
		return isFlux(w.id.Group) && slices.ContainsFunc(consequences, func(text string) bool { return strings.Contains(w.text, text) })
	})
	if len(own) == 0 {
		return waiting
	}
	return own
}

// consequences are what Flux says of an object that waits for another one of
// Flux.
var consequences = []string{"dependency '", "Source artifact not found"}

// nameOf names an object for people. The kinds of Flux are known without their
// group.
func nameOf(id kubeplan.ID) string {
	if isFlux(id.Group) {
		id.Group = ""
	}
	return id.String()
}

// isFlux reports whether a group is one of Flux.
func isFlux(group string) bool { return strings.HasSuffix(group, ".toolkit.fluxcd.io") }

// isNotification reports whether an object is one of those in which Flux notes
// nothing: it reads them when there is something to tell.
func isNotification(o kubeplan.Object) bool {
	id := o.ID()
	return id.Group == "notification.toolkit.fluxcd.io" && (id.Kind == "Provider" || id.Kind == "Alert")
}

// awaited are the steps whose objects are waited for.
func awaited(steps []kubeplan.Step) (observe []kubeplan.Step) {
	installs := slices.ContainsFunc(steps, func(s kubeplan.Step) bool {
		return s.Action == kubeplan.Create && (manifest.IsFluxInstance(s.ID()) || kubeplan.IsApplication(s.ID()))
	})
	for _, s := range steps {
		// With the engine come those of its objects that make it look.
		if installs && s.Engines() && (isFlux(s.ID().Group) || kubeplan.IsApplication(s.ID())) {
			observe = append(observe, s)
			continue
		}
		// What waits for somebody else does not come by being waited for here.
		if s.Item() == nil || s.Engines() || s.Action == kubeplan.Blocked && s.Live() == nil {
			continue
		}
		// What was ready when it was seen, and was not touched, is not asked again.
		if ready, _ := Readiness(s.Live()); !s.Effective() && ready {
			continue
		}
		observe = append(observe, s)
	}
	return observe
}

// looked is what is looked at again and again.
type looked struct {
	client *Client
	steps  []kubeplan.Step
	reader reader // of the last look; what it knows to be served is not asked again
}

// unready reads the objects, and returns those that are not ready.
func (l *looked) unready(ctx context.Context) (waiting []waited, err error) {
	if len(l.steps) == 0 {
		return nil, nil
	}
	wanted, all := l.where()
	if !all {
		if l.reader, err = l.client.reader(ctx); err != nil {
			return nil, err
		}
		wanted, _ = l.where()
	}
	now := map[kubeplan.ID]kubeplan.Object{}
	if err := l.reader.read(ctx, wanted, now); err != nil {
		return nil, err
	}
	for _, s := range l.steps {
		if ready, text := Readiness(now[s.ID()]); !ready {
			waiting = append(waiting, waited{s.ID(), text, now[s.ID()]})
		}
	}
	return waiting, nil
}

// where the objects are, and whether that is known of all.
func (l *looked) where() (wanted map[resource][]kubeplan.ID, all bool) {
	if l.reader.kinds == nil {
		return nil, false
	}
	wanted, all = map[resource][]kubeplan.ID{}, true
	for _, s := range l.steps {
		at, found := l.reader.of(s.Item().Object)
		if found {
			wanted[at] = append(wanted[at], s.ID())
		}
		all = all && found
	}
	return wanted, all
}

// stalled are the FluxInstances with which the Flux Operator has stopped: it does nothing
// before they change. Others that are stalled go on when what they need is there.
func stalled(waiting []waited) []waited {
	return slices.DeleteFunc(slices.Clone(waiting), func(w waited) bool {
		return !manifest.IsFluxInstance(w.id) || !kubeplan.Stalled(w.live)
	})
}

// stuck says what is not ready, each with its last events.
func (e *Executor) stuck(ctx context.Context, waiting []waited, why string) error {
	var problems diag.List
	for _, w := range waiting {
		text := why + ": " + w.text
		hint := "what is done is done: run it again when the reason is gone, and it goes on"
		if events := lastEvents(ctx, e.Client, w.id); len(events) > 0 {
			hint = "last events:\n" + strings.Join(events, "\n")
		}
		problems.Add(diag.On(w.id.String(), "%s", text).WithHint("%s", hint).WithCode(diag.NotReady))
	}
	return problems.Err()
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
