package apply

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Proxy connects to the APIs of the nodes of a cluster through the gateway that
// leads to them. The gateway is let in to for as long as the session, and no longer
// than lasts. It is asked at once, so that what is wrong is known before anything
// goes through it.
func (s *Session) Proxy(ctx context.Context, lasts time.Duration) (image.Dialer, error) {
	infra := &s.env.Infrastructure
	object := "access to the cluster " + infra.Cluster
	switch {
	case s.connect.reach.dial == nil:
		return nil, diag.On(object, "there are no nodes behind simulated servers").WithCode(diag.Usage)
	case infra.Access.Jump == "" && infra.Access.Mode == accessPublic:
		return nil, diag.On(object, "its nodes have public addresses, so no proxy leads to them").
			WithHint("talosgen access open %s lets your address in", s.env.name).WithCode(diag.Usage)
	case infra.Access.Jump == "":
		return nil, diag.On(object, "no gateway leads to its nodes").
			WithHint("they are reached from their own network, such as through a VPN").WithCode(diag.Usage)
	}
	o, err := s.connect.observe(ctx)
	if err != nil {
		return nil, err
	}
	s.connect.reach.open.lasts = lasts
	through, err := s.connect.reach.enter(ctx, o)
	if err != nil {
		return nil, err
	}
	if jump, is := through.(*reach.Jump); is {
		if err := jump.Ready(ctx); err != nil {
			return nil, err
		}
	}
	return proxyTo(infra).dialer(through), nil
}

// proxyTargets are what a proxy passes connections on to: the two APIs of what is in
// the networks of a cluster, and by its names, its control planes.
type proxyTargets struct {
	cluster       string
	ranges        []netip.Prefix
	names         []string
	controlPlanes []string
}

func proxyTo(infra *schemas.Infrastructure) proxyTargets {
	t := proxyTargets{cluster: infra.Cluster, names: slices.Clone(infra.KubernetesAPI.CertSANs)}
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
	for _, node := range controlPlanes(*infra) {
		t.controlPlanes = append(t.controlPlanes, node.address)
	}
	return t
}

// of are the addresses to try for one that was asked for, in their order; none for
// what is not the cluster's.
func (t proxyTargets) of(address string) (found []string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || !slices.Contains(ports, port) {
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

// dialer connects to them.
func (t proxyTargets) dialer(through reach.Transport) image.Dialer {
	return func(ctx context.Context, address string) (net.Conn, error) {
		var problems diag.List
		for _, target := range t.of(address) {
			conn, err := through.Dial(ctx, target)
			if err == nil {
				return conn, nil
			}
			problems.AddErr(err)
		}
		problems.Add(diag.On(address, "is no API of a node of the cluster %s that can be reached", t.cluster).WithCode(diag.Remote))
		return nil, problems.Err()
	}
}
