package catalogue

import "github.com/talosgen/talosgen/schemas"

// rbac are the roles that kubernetes.rbac defines.
func rbac() entry {
	return entry{
		about:   "roles of your own",
		builtIn: true, defaultOn: "with roles", options: "kubernetes.rbac",
		name: "rbac", layer: Configs, onlyBy: "kubernetes.rbac",
		wanted: func(f *facts) (bool, string) {
			r := f.Cluster.Kubernetes.RBAC
			return len(r.Roles)+len(r.ClusterRoles) > 0, "kubernetes.rbac"
		},
		build: func(f *facts, a *Addon) {
			r := f.Cluster.Kubernetes.RBAC
			for _, c := range r.ClusterRoles {
				a.Objects = append(a.Objects, clusterRole(c.Name, policyRules(c.Rules)...))
			}
			for _, n := range r.Roles {
				a.Objects = append(a.Objects, role(n.Namespace, n.Name, policyRules(n.Rules)...))
			}
		},
	}
}

func policyRules(rules []schemas.PolicyRule) []fields {
	var list []fields
	for _, r := range rules {
		list = append(list, fields{"apiGroups": r.APIGroups, "resources": r.Resources, "verbs": r.Verbs})
	}
	return list
}
