package addons

import (
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/config"
)

const (
	ciliumGroup    = "cilium.io"
	ciliumAddon    = "cilium"
	ciliumOperator = "cilium-operator"
)

// undefined is a warning of objects of Cilium's kinds that nothing defines: its
// operator does when it runs, and an addon cilium from a source of the user's own
// need not have it. Flux would wait for the kind for ever, and apply in vain.
func undefined(cfg *config.Config, made []madeAddon) *diag.Problem {
	var own *madeAddon
	for i, m := range made {
		if m.addon.Name == ciliumAddon {
			own = &made[i]
		}
	}
	if own == nil || slices.ContainsFunc(made, definesCilium) {
		return nil
	}
	for _, m := range made {
		for _, o := range m.objects {
			if o.ID().Group != ciliumGroup {
				continue
			}
			return diag.New(cfg.Near(own.addon.Origin), "addon %s: nothing defines the kind %s, which addon %s has %s of", ciliumAddon, o.Kind(), m.addon.Name, o.Name()).
				WithHint("Cilium's operator defines it when it runs: its Deployment %s has to be among the objects of addon %s, or the definition; "+
					"without them Flux waits for the kind, and apply for Flux", ciliumOperator, ciliumAddon) // one says it
		}
	}
	return nil
}

// definesCilium reports whether an addon brings a definition of a kind of Cilium's,
// or the operator that makes them.
func definesCilium(m madeAddon) bool {
	return slices.ContainsFunc(m.objects, func(o manifest.Object) bool {
		return o.Kind() == "Deployment" && o.Name() == ciliumOperator ||
			o.IsDefinition() && manifest.Text(manifest.Section(o, "spec")["group"]) == ciliumGroup
	})
}
