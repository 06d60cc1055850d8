package catalogue

import (
	"maps"
	"slices"

	"github.com/talosgen/talosgen/internal/sorting"
)

// oidc gives the groups of an OpenID Connect provider the roles that
// kubernetes.oidc.groupMappings names.
func oidc() entry {
	return entry{
		about:   "gives groups of an OpenID Connect provider their roles",
		builtIn: true, defaultOn: "with groups", options: "kubernetes.oidc.groupMappings",
		name: "oidc", layer: Configs, onlyBy: "kubernetes.oidc.groupMappings",
		wanted: func(f *facts) (bool, string) {
			o := f.Cluster.Kubernetes.OIDC
			return o.Enabled && len(o.GroupMappings) > 0, "kubernetes.oidc.groupMappings"
		},
		build: func(f *facts, a *Addon) { a.Objects = groupBindings(f) },
	}
}

// boundRole is a role that groups are bound to; of a cluster role the namespace
// is empty.
type boundRole struct{ namespace, name string }

// groupBindings has one binding for each role, with all groups that have it.
func groupBindings(f *facts) []object {
	o := f.Cluster.Kubernetes.OIDC
	groups := map[boundRole][]string{}
	for _, m := range o.GroupMappings {
		for _, name := range m.ClusterRoles {
			groups[boundRole{name: name}] = append(groups[boundRole{name: name}], o.GroupsPrefix+m.Group)
		}
		for _, r := range m.Roles {
			key := boundRole{r.Namespace, r.Name}
			groups[key] = append(groups[key], o.GroupsPrefix+m.Group)
		}
	}
	var objects []object
	roles := slices.Collect(maps.Keys(groups))
	sorting.By(roles, func(a, b boundRole) int {
		return slices.Compare([]string{a.namespace, a.name}, []string{b.namespace, b.name})
	})
	for _, r := range roles {
		objects = append(objects, groupBinding(r, slices.Compact(slices.Sorted(slices.Values(groups[r])))))
	}
	return objects
}

func groupBinding(r boundRole, groups []string) object {
	kind, role := "ClusterRoleBinding", "ClusterRole"
	if r.namespace != "" {
		kind, role = "RoleBinding", "Role"
	}
	var subjects items
	for _, group := range groups {
		subjects = append(subjects, fields{"apiGroup": rbacGroup, "kind": "Group", "name": group})
	}
	return newObject(rbacGroup+"/v1", kind, r.namespace, "oidc-"+r.name, fields{
		"roleRef": roleRef(role, r.name), "subjects": subjects,
	})
}
