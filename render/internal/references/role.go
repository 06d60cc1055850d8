package references

import (
	"slices"

	"github.com/talosgen/talosgen/internal/manifest"
)

// madeByRole notes the Secrets and ConfigMaps that a Role is there to make: those
// that it names, if it may create the kind. Programs that renew certificates have
// such Roles, as that of Cilium's Hubble, and so has what Helm runs on installation
// to make a password, as in Argo CD's chart, or a controller with a Secret of its
// own, as MetalLB's.
func (c *checker) madeByRole(o manifest.Object) {
	rules := manifest.Maps(o["rules"])
	for resource, kind := range map[string]string{"secrets": "Secret", "configmaps": "ConfigMap"} {
		if !slices.ContainsFunc(rules, func(r map[string]any) bool {
			return r["resourceNames"] == nil && allows(r, resource, "create")
		}) {
			continue
		}
		for _, r := range rules {
			if concerns(r, resource) {
				for _, name := range manifest.Texts(r["resourceNames"]) {
					c.add(manifest.ID{Kind: kind, Namespace: o.Namespace(), Name: name})
				}
			}
		}
	}
}

// concerns tells whether a rule is about a resource of the core.
func concerns(rule map[string]any, resource string) bool {
	return slices.Contains(manifest.Texts(rule["apiGroups"]), "") && slices.Contains(manifest.Texts(rule["resources"]), resource)
}

// allows tells whether a rule lets do something with a resource of the core.
func allows(rule map[string]any, resource, verb string) bool {
	return concerns(rule, resource) && slices.Contains(manifest.Texts(rule["verbs"]), verb)
}
