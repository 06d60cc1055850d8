package addon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
)

const (
	hookAnnotation = "helm.sh/hook"
	hookPrefix     = "helm.sh/hook-"
	// force lets Flux make an object anew whose fields cannot be changed: another
	// version of a chart has another Job of the same name.
	force = "kustomize.toolkit.fluxcd.io/force"
)

// installs are the hooks that Helm runs when a chart is installed for the first
// time. All others, such as test and pre-delete, mean nothing to what applies
// objects from Git, and are dropped.
var installs = []string{"pre-install", "post-install", "crd-install"}

// hooks decides what becomes of objects that Helm would run at some event. Those of
// an installation stay, as objects like all others: accounts, roles, ConfigMaps and
// Secrets are there for good, and so would they be with Helm. A Job or a Pod runs
// when it is applied, with everything else and not before or after it; so whoever
// has not said what to do with them is told.
func (c *chart) hooks(a catalogue.Addon, objects []located) (rest []located, warnings []Warning) {
	var running []string
	for _, o := range objects {
		events := hookEvents(o.object)
		install := slices.ContainsFunc(events, func(e string) bool { return slices.Contains(installs, e) })
		switch {
		case len(events) == 0:
		case !install || a.Hooks == catalogue.DropHooks:
			continue
		default:
			if runs(o.object) {
				running = append(running, fmt.Sprintf("%s (%s, %s)", o.object.ID(), strings.Join(events, ", "), o.file))
			}
			removeHookAnnotations(o.object)
		}
		rest = append(rest, o)
	}
	if len(running) == 0 || a.Hooks == catalogue.KeepHooks {
		return rest, nil
	}
	slices.Sort(running)
	return rest, []Warning{{
		Message: fmt.Sprintf("the chart %s has what Helm runs on installation, before or after everything else; here it is applied with everything else: %s",
			c.Name(), strings.Join(running, ", ")),
		Hint: fmt.Sprintf("best are values with which the chart does without; addons.%s.hooks: keep in cluster.yaml says that it is right so, hooks: drop leaves all hooks out", a.Name),
	}}
}

// runs tells whether an object is a program that ends.
func runs(o manifest.Object) bool {
	return o.ID().Group == "batch" && o.Kind() == "Job" || o.ID().Group == "" && o.Kind() == "Pod"
}

// hookEvents are the events at which Helm would run an object.
func hookEvents(o manifest.Object) []string {
	annotations, _ := o.Metadata()["annotations"].(map[string]any)
	text, _ := annotations[hookAnnotation].(string)
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ',' || r == ' ' })
}

// removeHookAnnotations makes an object one like all others.
func removeHookAnnotations(o manifest.Object) {
	annotations, _ := o.Metadata()["annotations"].(map[string]any)
	for key := range annotations {
		if key == hookAnnotation || strings.HasPrefix(key, hookPrefix) {
			delete(annotations, key)
		}
	}
	if runs(o) {
		annotations[force] = "enabled"
	}
	if len(annotations) == 0 {
		delete(o.Metadata(), "annotations")
	}
}
