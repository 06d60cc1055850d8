package addons

import (
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/config"
)

// defaultClasses is a warning of several storage classes that are each for those who
// name none: Kubernetes takes the one that was made last, so which it is depends on who
// came first. What the catalogue makes has one at most; charts may have others.
func defaultClasses(cfg *config.Config, made []madeAddon) *diag.Problem {
	var names []string
	origin := ""
	for _, m := range made {
		for _, o := range m.objects {
			if o.Kind() == "StorageClass" && manifest.Text(manifest.Section(o, "metadata", "annotations")["storageclass.kubernetes.io/is-default-class"]) == "true" {
				names = append(names, o.Name()+" of addon "+m.addon.Name)
				origin = m.addon.Origin
			}
		}
	}
	if len(names) < 2 {
		return nil
	}
	return diag.New(cfg.Near(origin), "several storage classes are the default: %s", strings.Join(names, ", ")).
		WithHint("Kubernetes takes the one that was made last. Let storage.defaultClass name one, or take the mark off the other: in hetzner.volumes.storageClasses, or in the values of its chart")
}
