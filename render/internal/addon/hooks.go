package addon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
)

const (
	hookAnnotation = "helm.sh/hook"
	hookPrefix     = "helm.sh/hook-"
)

// installs are the hooks that Helm runs when a chart is installed for the first
// time. All others, such as test and pre-delete, mean nothing to what applies
// objects from Git, and are dropped.
var installs = []string{"pre-install", "post-install", "crd-install"}

// hooks decides what becomes of objects that Helm would run at some event:
// installed hides what stays, with the file that each came from.
func (c *chart) hooks(a catalogue.Addon, objects []located) ([]located, error) {
	var rest, install []located
	for _, o := range objects {
		switch events := hookEvents(o.object); {
		case len(events) == 0:
			rest = append(rest, o)
		case slices.ContainsFunc(events, func(e string) bool { return slices.Contains(installs, e) }):
			install = append(install, o)
		}
	}
	switch {
	case len(install) == 0 || a.Hooks == catalogue.DropHooks:
		return rest, nil
	case a.Hooks == catalogue.KeepHooks:
		for _, o := range install {
			removeHookAnnotations(o.object)
		}
		return append(rest, install...), nil
	}
	names := make([]string, len(install))
	for i, o := range install {
		names[i] = fmt.Sprintf("%s (%s, %s)", o.object.ID(), strings.Join(hookEvents(o.object), ", "), o.file)
	}
	slices.Sort(names)
	return nil, diag.On(a.Origin, "the chart %s of the addon %s has hooks that Helm runs on installation, and talosgen runs no hooks:\n  %s",
		c.Name(), a.Name, strings.Join(names, "\n  ")).
		WithHint("set values with which the chart does without them; or in cluster.yaml addons.%s.hooks: keep makes them objects as all others,\nand hooks: drop leaves them out", a.Name)
}

// hookEvents are the events at which Helm would run an object.
func hookEvents(o manifest.Object) []string {
	annotations, _ := o.Metadata()["annotations"].(map[string]any)
	text, _ := annotations[hookAnnotation].(string)
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ',' || r == ' ' })
}

func removeHookAnnotations(o manifest.Object) {
	annotations, _ := o.Metadata()["annotations"].(map[string]any)
	for key := range annotations {
		if key == hookAnnotation || strings.HasPrefix(key, hookPrefix) {
			delete(annotations, key)
		}
	}
	if len(annotations) == 0 {
		delete(o.Metadata(), "annotations")
	}
}
