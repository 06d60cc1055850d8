package addons

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/gitops"
	"github.com/talosgen/talosgen/schemas"
)

// roleNamespaces warns of roles, and of groups mapped to roles, in namespaces that no
// addon makes: Kubernetes refuses what is to be in them, and what comes later waits.
func roleNamespaces(cfg *config.Config, made []madeAddon) (warnings diag.List) {
	exists := namespacesOf(cfg, made)
	visit := func(option, namespace string) {
		if namespace == "" || exists[namespace] || gitops.IsBuiltinNamespace(namespace) {
			return
		}
		warnings.Add(diag.New(cfg.Near(option), "no addon makes the namespace %s: as long as it does not exist, Kubernetes refuses what is to be in it, and what comes after that waits", namespace).
			WithHint("name it as the namespace of an addon, or make it yourself before"))
	}
	has := func(name string) bool {
		return slices.ContainsFunc(made, func(m madeAddon) bool { return m.addon.Name == name })
	}
	if has("oidc") {
		for i, m := range cfg.Kubernetes.OIDC.GroupMappings {
			for j, r := range m.Roles {
				visit(fmt.Sprintf("kubernetes.oidc.groupMappings.%d.roles.%d.namespace", i, j), r.Namespace)
			}
		}
	}
	if has("rbac") {
		for i, r := range cfg.Kubernetes.RBAC.Roles {
			visit(fmt.Sprintf("kubernetes.rbac.roles.%d.namespace", i), r.Namespace)
		}
	}
	return warnings
}

// namespacesOf are the namespaces that come with addons.
func namespacesOf(cfg *config.Config, made []madeAddon) map[string]bool {
	all := map[string]bool{gitops.Namespace: cfg.GitOps.Engine == schemas.Flux, cfg.GitOps.ArgoCD.Namespace: cfg.GitOps.Engine == schemas.ArgoCD}
	for _, m := range made {
		all[m.addon.Namespace] = true
		for _, o := range m.objects {
			if o.Kind() == "Namespace" {
				all[o.Name()] = true
			}
		}
	}
	return all
}
