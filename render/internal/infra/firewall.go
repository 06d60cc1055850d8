package infra

import (
	"strconv"

	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/schemas"
)

// Ports of the cluster.
const (
	kubernetesPort      = 6443
	talosPort           = 50000
	kubeSpanPort        = 51820
	ciliumWireGuardPort = 51871
	sshPort             = 22
)

// anywhere is every address.
var anywhere = []string{"0.0.0.0/0", "::/0"}

// firewalls let in what the nodes serve to the outside; everything else is
// dropped, and traffic of the private network is never filtered by Hetzner.
// Without a source the APIs are reached by sessions of apply only.
func (r networkResolver) firewalls() {
	if !r.c.Network.PublicIPv4 && !r.c.Network.PublicIPv6 {
		return // there is nothing that a firewall would filter
	}
	f := r.c.Hetzner.Firewall
	if f.ExistingID != 0 {
		r.out.Firewalls = append(r.out.Firewalls, schemas.InfraFirewall{ExistingID: int64(f.ExistingID), ApplyTo: r.nodeSelector(), Direct: f.ApplyTo == "servers"})
		return
	}
	var rules []schemas.InfraRule
	rules = appendRule(rules, "Kubernetes API", "tcp", kubernetesPort, f.KubeAPISource)
	rules = appendRule(rules, "Talos API", "tcp", talosPort, f.TalosAPISource)
	if r.c.Talos.KubeSpan.Enabled {
		rules = appendRule(rules, "KubeSpan", "udp", kubeSpanPort, anywhere)
	}
	if r.c.CNI.Type == config.Cilium && r.c.CNI.Encryption == "wireguard" {
		rules = appendRule(rules, "Cilium WireGuard", "udp", ciliumWireGuardPort, anywhere)
	}
	for _, extra := range f.ExtraRules {
		rules = append(rules, schemas.InfraRule(extra))
	}
	r.out.Firewalls = append(r.out.Firewalls, schemas.InfraFirewall{
		Name: r.name("nodes"), Labels: r.labels(labelComponent, "nodes"), Rules: rules, ApplyTo: r.nodeSelector(),
	})
}

// appendRule adds a rule that lets something in, if there is a source.
func appendRule(rules []schemas.InfraRule, description, protocol string, port int, sources []string) []schemas.InfraRule {
	if len(sources) == 0 {
		return rules
	}
	return append(rules, schemas.InfraRule{
		Description: description, Direction: "in", Protocol: protocol, Port: strconv.Itoa(port), SourceIPs: sources,
	})
}
