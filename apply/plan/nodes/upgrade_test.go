package nodes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
)

// versioned is a configuration that names Talos and Kubernetes.
func versioned(t *testing.T, role, talos, kubernetes string) *nodeconfig.Config {
	t.Helper()
	return config(t, fmt.Sprintf(`version: v1alpha1
machine:
    type: %s
    install:
        image: factory.talos.dev/metal-installer/abc:%s
    kubelet:
        image: ghcr.io/siderolabs/kubelet:%s
`, map[string]string{nodes.ControlPlane: "controlplane", nodes.Worker: "worker"}[role], talos, kubernetes))
}

// TestUpgrade: each node is name, role, how it is reached, the Talos that it runs
// ("-": nobody has said), and the versions of its configuration; Git has the same
// versions for all of them.
func TestUpgrade(t *testing.T) {
	for _, c := range []struct{ name, git, nodes, expected string }{
		{"nothing", "v1.14.1 v1.37.0", "cp control-plane configured v1.14.1 v1.14.1 v1.37.0", ""},
		{"both", "v1.14.1 v1.37.0", `cp-1 control-plane configured v1.13.0 v1.13.0 v1.36.3
			cp-2 control-plane configured v1.14.1 v1.13.9 v1.37.0
			w-1 worker configured - v1.13.9 v1.36.4`, `
			upgrade pending:
			  talos       v1.13.0 -> v1.14.1   2 nodes (1 control plane)
			  kubernetes  1.36.3 -> 1.37.0     2 nodes (1 control plane)
			  etcd        3.6.9 -> 3.7.1       comes with Talos; no way back when the last control plane has it
			  in this order: talos v1.13.9, talos v1.14.1, kubernetes 1.37.0
			  apply keeps the versions that run; to upgrade: talosgen upgrade (docs/how-to/upgrade.md)`},
		{"upgraded by hand", "v1.14.1 v1.37.0", "cp control-plane configured v1.14.1 v1.13.9 v1.37.0", ""},
		{"a worker only", "v1.14.1 v1.37.0", "cp control-plane configured v1.14.1 v1.14.1 v1.37.0\nw worker configured v1.13.9 v1.13.9 v1.37.0", `
			upgrade pending:
			  talos       v1.13.9 -> v1.14.1   1 node
			  in this order: talos v1.14.1
			  apply keeps the versions that run; to upgrade: talosgen upgrade (docs/how-to/upgrade.md)`},
		{"back", "v1.13.9 v1.36.3", "cp control-plane configured v1.14.1 v1.14.1 v1.36.3", `
			upgrade pending:
			  talos       v1.14.1 -> v1.13.9   1 node (1 control plane)
			  blocked: the cluster runs v1.14.1, and Git has the older v1.13.9
			    a minor version does not go back: set the version in cluster.env to the one that runs, or restore a snapshot of etcd into a new cluster`},
		{"a new worker", "v1.14.1 v1.37.0", "cp control-plane configured v1.13.9 v1.13.9 v1.36.3\nw worker maintenance - v1.14.1 v1.37.0", `
			upgrade pending:
			  talos       v1.13.9 -> v1.14.1   1 node (1 control plane)
			  kubernetes  1.36.3 -> 1.37.0     2 nodes (1 control plane)
			  etcd        3.6.12 -> 3.7.1      comes with Talos; no way back when the last control plane has it
			  in this order: talos v1.14.1, kubernetes 1.37.0
			  apply keeps the versions that run; to upgrade: talosgen upgrade (docs/how-to/upgrade.md)`},
		{"away", "v1.14.1 v1.37.0", "cp control-plane unreachable - v1.13.9 v1.36.3", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if text := upgradeOf(t, c.git, c.nodes); text != strings.ReplaceAll(strings.TrimPrefix(c.expected, "\n"), "\t", "") {
				t.Errorf("it is\n%s, expected\n%s", text, c.expected)
			}
		})
	}
}

// upgradeOf plans, and returns what the plan prints of the upgrade.
func upgradeOf(t *testing.T, git, fleet string) string {
	t.Helper()
	talos, kubernetes, _ := strings.Cut(git, " ")
	var desired nodes.Desired
	observed := nodes.Observed{Known: true, Running: nodeconfig.Running{Talos: "v1.13.9", Kubernetes: "v1.36.3"}}
	for line := range strings.Lines(fleet) {
		f := strings.Fields(line)
		n := nodes.Node{Name: f[0], Role: f[1], Reach: nodes.Reach(f[2]), Stage: nodes.StageRunning, Registered: true}
		if n.Reach == nodes.Configured {
			n.Config, n.Talos = versioned(t, f[1], f[4], f[5]), strings.TrimPrefix(f[3], "-")
		}
		observed.Nodes = append(observed.Nodes, n)
		desired.Nodes = append(desired.Nodes, nodes.Want{Name: f[0], Role: f[1], Config: versioned(t, f[1], talos, kubernetes)})
	}
	p, err := nodes.Make(desired, observed, nodes.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(p.String(), "upgrade pending:")
	if !found {
		return ""
	}
	if text, _, _ = strings.Cut(text, "warnings:"); p.Upgrade == nil {
		t.Error("what is printed is not in the plan")
	}
	return "upgrade pending:" + strings.TrimSuffix(text, "\n")
}
