package infra

import (
	"net/netip"
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

// Ports of the cluster.
const (
	kubernetesPort      = 6443
	talosPort           = 50000
	kubeSpanPort        = 51820
	ciliumWireGuardPort = 51871
)

// anywhere is every address.
var anywhere = []string{"0.0.0.0/0", "::/0"}

// firewalls let in what the nodes serve to the outside; everything else is
// dropped, and traffic of the private network is never filtered by Hetzner.
// Without a source the APIs are reached by sessions of apply only.
func (in *Input) firewalls() []schemas.InfraFirewall {
	if !in.PublicIPv4 && !in.PublicIPv6 {
		return nil // there is nothing that a firewall would filter
	}
	var rules []schemas.InfraRule
	add := func(description, protocol string, port int, sources []string) {
		if len(sources) > 0 {
			rules = append(rules, schemas.InfraRule{Description: description, Direction: "in", Protocol: protocol, Port: strconv.Itoa(port), SourceIPs: sources})
		}
	}
	add("Kubernetes API", "tcp", kubernetesPort, texts(in.Firewall.KubernetesSources))
	add("Talos API", "tcp", talosPort, texts(in.Firewall.TalosSources))
	if in.Firewall.KubeSpan {
		add("KubeSpan", "udp", kubeSpanPort, anywhere)
	}
	if in.Firewall.CiliumWireGuard {
		add("Cilium WireGuard", "udp", ciliumWireGuardPort, anywhere)
	}
	rules = append(rules, in.Firewall.Extra...)
	return []schemas.InfraFirewall{{
		Name: in.Cluster, Labels: in.labels(labelComponent, "nodes"), Rules: rules, ApplyTo: in.selector(),
	}}
}

func texts(prefixes []netip.Prefix) []string {
	out := make([]string, len(prefixes))
	for i, p := range prefixes {
		out[i] = p.String()
	}
	return out
}
