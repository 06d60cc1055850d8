package addons

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// unmetObjects are definitions and storage classes that an addon needs and no addon
// makes: those that only warn apart.
func (b *builder) unmetObjects(made []madeAddon) (problems, warnings diag.List) {
	has := map[string]bool{}
	for _, m := range made {
		for _, o := range m.objects {
			if o.IsDefinition() || o.Kind() == "StorageClass" {
				has[o.Kind()+" "+o.Name()] = true
			}
		}
	}
	for _, m := range made {
		needs := m.addon.Needs
		wanted := map[string][]string{"definitions": needs.Definitions, "storageClass": {needs.StorageClass}}
		kinds := map[string]string{"definitions": "CustomResourceDefinition", "storageClass": "StorageClass"}
		for _, key := range []string{"definitions", "storageClass"} {
			for _, name := range wanted[key] {
				if name == "" || has[kinds[key]+" "+name] || needs.Unmet == schemas.IgnoreUnmet {
					continue
				}
				p := diag.New(b.model.Config.Near("addons."+m.addon.Name+".needs."+key), "addon %s needs the %s %s, which no addon makes", m.addon.Name, kinds[key], name).
					WithHint("add the addon that makes it; or say that something else does: addons.%s.needs.unmet: ignore", m.addon.Name)
				if needs.Unmet == schemas.WarnUnmet {
					warnings.Add(p)
					continue
				}
				problems.Add(p)
			}
		}
	}
	return problems, warnings
}
