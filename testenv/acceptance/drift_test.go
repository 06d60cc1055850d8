//go:build linux

package acceptance

import (
	"net"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/talosgen/talosgen/testenv/talosenv"
)

// drift changes by hand what is talosgen's at Hetzner, on a node and in Kubernetes,
// and what is Flux's. A plan finds the former, and the next apply repairs it; the
// latter is repaired by Flux.
func (c *cloud) drift() {
	c.openFirewall()
	c.patchNode("lab-worker-1", "machine: {sysctls: {net.core.somaxconn: '1024'}}\n")
	core := c.kubernetes().CoreV1()
	if _, err := core.Secrets(fluxNamespace).Patch(c.t.Context(), "sops-age", types.MergePatchType,
		[]byte(`{"data": {"age.agekey": "bm9uZQ=="}}`), metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		c.t.Fatal(err)
	}
	if _, err := core.ConfigMaps("default").Patch(c.t.Context(), "hello", types.MergePatchType,
		[]byte(`{"data": {"greeting": "drifted"}}`), metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		c.t.Fatal(err)
	}
	output, err := c.talosgen("plan", "lab")
	if err == nil {
		c.t.Error("the plan finds nothing")
	}
	c.contains(output, "firewall/", "lab-worker-1", "Secret/flux-system/sops-age", "kubectl-edit")
	// What somebody has edited is theirs, until somebody says otherwise; the rest is
	// repaired all the same.
	c.refused("`talosgen takeover` gives the fields to talosgen", applyCommand()...)
	output, err = c.talosgen("plan", "lab")
	if err == nil {
		c.t.Error("the plan does not find what somebody has edited")
	}
	c.contains(output, "lab, Kubernetes: 1 in conflict", "Plan: 0 to add, 0 to change in place, 0 to replace, 0 to destroy")
	c.must("takeover", "lab", "--yes")
	c.applied()
	c.asInGit()
	c.greets("hello")
}

// openFirewall adds a rule to the firewall of the gateway.
func (c *cloud) openFirewall() {
	c.t.Helper()
	ctx, client := c.t.Context(), c.hetzner()
	all, err := client.Firewall.All(ctx)
	if err != nil || len(all) == 0 {
		c.t.Fatalf("%d firewalls: %v", len(all), err)
	}
	port := "8080"
	_, everywhere, _ := net.ParseCIDR("0.0.0.0/0")
	rules := append(all[0].Rules, hcloud.FirewallRule{
		Direction: hcloud.FirewallRuleDirectionIn, Protocol: hcloud.FirewallRuleProtocolTCP, Port: &port, SourceIPs: []net.IPNet{*everywhere},
	})
	actions, _, err := client.Firewall.SetRules(ctx, all[0], hcloud.FirewallSetRulesOpts{Rules: rules})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := client.Action.WaitFor(ctx, actions...); err != nil {
		c.t.Fatal(err)
	}
}

// patchNode changes the configuration of a node with talosctl.
func (c *cloud) patchNode(name, patch string) {
	c.t.Helper()
	talosctl := c.bed.NewClient(c.t, c.repository.MachineConfig(&talosenv.Node{Name: "lab-control-plane-1"}))
	for _, n := range c.bed.Nodes() {
		if n.Name != name || n.Stopped() {
			continue
		}
		output, err := talosctl.Run(c.t.Context(), n, "patch", "machineconfig", "--patch", strings.TrimSpace(patch))
		if err != nil {
			c.t.Fatalf("%v\n%s", err, output)
		}
		return
	}
	c.t.Fatalf("there is no %s", name)
}
