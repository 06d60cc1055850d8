package wayin

import (
	"net"
	"net/netip"
	"net/url"
	"slices"

	"github.com/talosgen/talosgen/schemas"
)

// Targets are what a proxy passes connections on to: the two APIs of what is in
// the networks of a cluster, and by its names, its control planes.
type Targets struct {
	ranges        []netip.Prefix
	names         []string
	controlPlanes []string
}

// Behind are those of a cluster, whose control planes have some addresses.
func Behind(infra *schemas.Infrastructure, controlPlanes []string) Targets {
	t := Targets{names: slices.Clone(infra.KubernetesAPI.CertSANs), controlPlanes: controlPlanes}
	for _, text := range []string{infra.KubernetesAPI.Endpoint, infra.KubernetesAPI.ExternalEndpoint} {
		if u, err := url.Parse(text); err == nil {
			t.names = append(t.names, u.Hostname())
		}
	}
	if infra.Network != nil {
		if all, err := netip.ParsePrefix(infra.Network.IPRange); err == nil {
			t.ranges = append(t.ranges, all)
		}
	}
	return t
}

// Of are the addresses to try for one that was asked for, in their order; none for
// what is not the cluster's.
func (t Targets) Of(address string) (found []string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port != kubernetesPort && port != talosPort {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if slices.ContainsFunc(t.ranges, func(r netip.Prefix) bool { return r.Contains(ip.Unmap()) }) {
			return []string{address}
		}
	}
	if !slices.Contains(t.names, host) {
		return nil
	}
	for _, node := range t.controlPlanes {
		found = append(found, net.JoinHostPort(node, port))
	}
	return found
}
