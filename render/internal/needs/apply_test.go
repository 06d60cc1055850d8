package needs_test

import (
	"slices"
	"testing"

	"github.com/talosgen/talosgen/render/internal/needs"
	"github.com/talosgen/talosgen/schemas"
)

// TestApplyRoles: Talos gives every namespace of its list every role of it. So a
// namespace is added by itself only where nobody gets a role that nobody asked for.
func TestApplyRoles(t *testing.T) {
	on, off := true, false
	reader, backup := []string{"os:reader"}, []string{"os:reader", "os:etcd:backup"}
	for _, c := range []struct {
		name              string
		access            schemas.APIAccess
		asks              []string
		roles, namespaces []string
	}{
		{"closed", schemas.APIAccess{Enabled: &off, Roles: backup, Namespaces: []string{"kube-system"}}, reader, reader, []string{"disks"}},
		{"nobody has decided", schemas.APIAccess{}, reader, reader, []string{"disks"}},
		{"the same roles", schemas.APIAccess{Enabled: &on, Roles: backup, Namespaces: []string{"kube-system"}}, []string{"os:etcd:backup", "os:reader"}, backup, []string{"kube-system", "disks"}},
		{"it would get more", schemas.APIAccess{Enabled: &on, Roles: backup, Namespaces: []string{"kube-system"}}, reader, backup, []string{"kube-system"}},
		{"others would get more", schemas.APIAccess{Enabled: &on, Roles: reader, Namespaces: []string{"kube-system"}}, backup, reader, []string{"kube-system"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := schemas.Cluster{Talos: schemas.Talos{Version: "v1.14.1", ConfigContract: "v1.14.1", APIAccess: c.access}}
			needs.Needs{Addon: "disks", Namespace: "disks", AddonNeeds: schemas.AddonNeeds{TalosRoles: c.asks}}.Apply(&cluster)
			if got := cluster.Talos.APIAccess; !slices.Equal(got.Roles, c.roles) || !slices.Equal(got.Namespaces, c.namespaces) {
				t.Errorf("roles %v in %v, want %v in %v", got.Roles, got.Namespaces, c.roles, c.namespaces)
			}
		})
	}
}
