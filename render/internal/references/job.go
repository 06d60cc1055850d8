package references

import (
	"cmp"

	"github.com/talosgen/talosgen/internal/manifest"
)

// madeByJobs notes the namespaces in which a Job makes Secrets: its service account
// may create them. Which ones, only its program knows; charts have such Jobs for
// certificates of webhooks.
func (c *checker) madeByJobs() {
	creates := map[manifest.ID]bool{}  // roles
	accounts := map[manifest.ID]bool{} // who has such a role where they run
	for _, o := range c.sources.Objects {
		if o.ID().Group == rbacGroup && (o.Kind() == "Role" || o.Kind() == "ClusterRole") && createsSecrets(o) {
			creates[manifest.ID{Kind: o.Kind(), Namespace: o.Namespace(), Name: o.Name()}] = true
		}
	}
	for _, o := range c.sources.Objects {
		if o.ID().Group != rbacGroup || o.Kind() != "RoleBinding" && o.Kind() != "ClusterRoleBinding" {
			continue
		}
		role := roleOf(o)
		for _, subject := range manifest.Maps(o["subjects"]) {
			namespace := cmp.Or(manifest.Text(subject["namespace"]), o.Namespace())
			if creates[role] && manifest.Text(subject["kind"]) == "ServiceAccount" && (o.Namespace() == "" || o.Namespace() == namespace) {
				accounts[manifest.ID{Namespace: namespace, Name: manifest.Text(subject["name"])}] = true
			}
		}
	}
	for _, o := range c.sources.Objects {
		if id := o.ID(); id.Group != "batch" {
			continue
		}
		spec, _ := podSpec(o)
		if accounts[manifest.ID{Namespace: o.Namespace(), Name: cmp.Or(manifest.Text(spec["serviceAccountName"]), "default")}] {
			c.secrets[o.Namespace()] = true
		}
	}
}

// roleOf is the role that a binding gives.
func roleOf(binding manifest.Object) manifest.ID {
	ref := manifest.Section(binding, "roleRef")
	role := manifest.ID{Kind: manifest.Text(ref["kind"]), Name: manifest.Text(ref["name"])}
	if role.Kind == "Role" {
		role.Namespace = binding.Namespace()
	}
	return role
}

// createsSecrets tells whether a role lets create Secrets of any name.
func createsSecrets(role manifest.Object) bool {
	for _, rule := range manifest.Maps(role["rules"]) {
		if rule["resourceNames"] == nil && allows(rule, "secrets", "create") {
			return true
		}
	}
	return false
}
