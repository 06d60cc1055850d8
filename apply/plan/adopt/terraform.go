package adopt

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// Module is a module of Terraform.
type Module string

// The modules that are known by what they make.
const (
	NoModule    Module = ""
	HcloudK8s   Module = "hcloud-k8s/kubernetes/hcloud"
	HcloudTalos Module = "hcloud-talos/talos/hcloud"
)

// module tells which module has made the cluster.
func (m servers) module() Module {
	if !slices.ContainsFunc(m.members, func(n *member) bool { return n.server.Labels[schemas.LabelRole] == schemas.OtherControlPlane }) {
		return NoModule
	}
	if slices.ContainsFunc(m.Project.PlacementGroups, func(g cloud.PlacementGroup) bool { return g.Name == m.Cluster+"-control-plane-pg" }) {
		return HcloudK8s
	}
	if slices.ContainsFunc(m.members, func(n *member) bool { return n.server.Labels["server_type"] != "" }) {
		return HcloudTalos
	}
	return NoModule
}

// Farewell says how Terraform gives up what a module has made, without deleting it.
// The name of the module is that of the user's own configuration.
func (m Module) Farewell() []string {
	if m == NoModule {
		return nil
	}
	return []string{
		"the cluster looks like one of the Terraform module " + string(m) + ". Before talosgen apply, let Terraform forget it:",
		"  1. put this in the place of the module's block, with its name in your configuration:",
		"       removed {",
		"         from = module.kubernetes",
		"         lifecycle { destroy = false }",
		"       }",
		"  2. terraform plan: it must say that resources are forgotten, and 0 to destroy; then terraform apply",
		"     (before Terraform 1.7, and in OpenTofu before 1.7, in the place of both: terraform state rm module.kubernetes)",
		"  3. only then talosgen apply: Terraform would take away the labels that it adds, and its destroy deletes the servers",
	}
}
