package apply

import (
	"context"
	"net"
	"time"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/apply/wayin"
	"github.com/talosgen/talosgen/internal/diag"
)

// Proxy connects to the APIs of the nodes of a cluster through the gateway that
// leads to them. The gateway is let in to for as long as the session, and no longer
// than lasts. It is asked at once, so that what is wrong is known before anything
// goes through it.
func (s Access) Proxy(ctx context.Context, lasts time.Duration) (image.Dialer, error) {
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
	if jump, is := through.(*reach.Jumps); is {
		if err := jump.Ready(ctx); err != nil {
			return nil, err
		}
	}
	var addresses []string
	for _, node := range controlPlanes(*infra) {
		addresses = append(addresses, node.address)
	}
	return dialTargets(infra.Cluster, wayin.Behind(infra, addresses), through), nil
}

// dialTargets connects to targets in a cluster.
func dialTargets(cluster string, t wayin.Targets, through reach.Transport) image.Dialer {
	return func(ctx context.Context, address string) (net.Conn, error) {
		var problems diag.List
		for _, target := range t.Of(address) {
			conn, err := through.Dial(ctx, target)
			if err == nil {
				return conn, nil
			}
			problems.AddErr(err)
		}
		problems.Add(diag.On(address, "is no API of a node of the cluster %s that can be reached", cluster).WithCode(diag.Remote))
		return nil, problems.Err()
	}
}
