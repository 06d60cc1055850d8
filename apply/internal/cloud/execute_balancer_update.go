package cloud

import (
	"context"
	"slices"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// balancerUpdate is a change of a load balancer.
type balancerUpdate struct {
	*step
	want *schemas.InfraLoadBalancer
	have *cloudplan.LoadBalancer
	l    *hcloud.LoadBalancer
	// Whether all targets have been set already.
	targeted bool
}

func (u *balancerUpdate) labels(ctx context.Context, _ []cloudplan.Field) error {
	_, _, err := u.api.LoadBalancer.Update(ctx, u.l, hcloud.LoadBalancerUpdateOpts{Labels: cloudplan.MergeLabels(u.want.Labels, u.have.Labels)})
	return err
}

func (u *balancerUpdate) resize(ctx context.Context, _ []cloudplan.Field) error {
	return u.await(ctx, "make it a "+u.want.Type, func() (*hcloud.Action, *hcloud.Response, error) {
		return u.api.LoadBalancer.ChangeType(ctx, u.l, hcloud.LoadBalancerChangeTypeOpts{
			LoadBalancerType: &hcloud.LoadBalancerType{Name: u.want.Type},
		})
	})
}

func (u *balancerUpdate) algorithm(ctx context.Context, _ []cloudplan.Field) error {
	return u.await(ctx, "change its algorithm", func() (*hcloud.Action, *hcloud.Response, error) {
		return u.api.LoadBalancer.ChangeAlgorithm(ctx, u.l, hcloud.LoadBalancerChangeAlgorithmOpts{
			Type: hcloud.LoadBalancerAlgorithmType(u.want.Algorithm),
		})
	})
}

// privateIP attaches the load balancer to the network. Targets that are reached
// there leave it before it does, and come back with it.
func (u *balancerUpdate) privateIP(ctx context.Context, fields []cloudplan.Field) error {
	if fields[0].From == "" {
		return u.attachBalancer(ctx, u.l, u.want.PrivateIP)
	}
	for _, t := range u.have.Targets {
		if t.UsePrivateIP {
			if err := u.removeTarget(ctx, u.l, targetName(t)); err != nil {
				return err
			}
		}
	}
	if err := u.changeNetwork(ctx, "detach it from the network", func(n *hcloud.Network) (*hcloud.Action, *hcloud.Response, error) {
		return u.api.LoadBalancer.DetachFromNetwork(ctx, u.l, hcloud.LoadBalancerDetachFromNetworkOpts{Network: n})
	}); err != nil {
		return err
	}
	if u.want.PrivateIP == "" {
		return nil
	}
	if err := u.attachBalancer(ctx, u.l, u.want.PrivateIP); err != nil {
		return err
	}
	for _, selector := range u.want.Targets {
		if err := u.addTarget(ctx, u.l, selector); err != nil {
			return err
		}
	}
	u.targeted = true
	return nil
}

// targetName names a target as a plan does.
func targetName(t cloudplan.Target) string {
	switch {
	case t.Selector != "":
		return t.Selector
	case t.Server != 0:
		return "server " + strconv.FormatInt(t.Server, 10)
	default:
		return "ip " + t.IP
	}
}

// targets removes what is there otherwise than it should be, and adds what
// should be there.
func (u *balancerUpdate) targets(ctx context.Context, fields []cloudplan.Field) error {
	for _, f := range fields {
		private := slices.ContainsFunc(u.have.Targets, func(t cloudplan.Target) bool { return targetName(t) == f.Item && t.UsePrivateIP })
		if f.From != "" && (!u.targeted || !private) {
			if err := u.removeTarget(ctx, u.l, f.Item); err != nil {
				return err
			}
		}
		if f.To != "" && !u.targeted {
			if err := u.addTarget(ctx, u.l, f.Item); err != nil {
				return err
			}
		}
	}
	return nil
}

// services makes way before it adds: a type has room for so many services.
func (u *balancerUpdate) services(ctx context.Context, fields []cloudplan.Field) error {
	for _, f := range fields {
		if f.To != "" {
			continue
		}
		port, err := strconv.Atoi(f.Item)
		if err != nil {
			return err
		}
		if err := u.await(ctx, "remove the service "+f.Item, func() (*hcloud.Action, *hcloud.Response, error) {
			return u.api.LoadBalancer.DeleteService(ctx, u.l, port)
		}); err != nil {
			return err
		}
	}
	for _, f := range fields {
		i := slices.IndexFunc(u.want.Services, func(w schemas.InfraService) bool { return strconv.Itoa(w.ListenPort) == f.Item })
		if f.To == "" || i < 0 {
			continue
		}
		if err := u.await(ctx, "set the service "+f.Item, func() (*hcloud.Action, *hcloud.Response, error) {
			return u.setService(ctx, u.want.Services[i], f.From == "")
		}); err != nil {
			return err
		}
	}
	return nil
}

// setService adds a service, or changes the one that listens on its port.
func (u *balancerUpdate) setService(ctx context.Context, w schemas.InfraService, add bool) (*hcloud.Action, *hcloud.Response, error) {
	c := createService(w)
	if add {
		opts := hcloud.LoadBalancerAddServiceOpts{
			Protocol: c.Protocol, ListenPort: c.ListenPort, DestinationPort: c.DestinationPort, Proxyprotocol: c.Proxyprotocol,
			HealthCheck: &hcloud.LoadBalancerAddServiceOptsHealthCheck{
				Protocol: c.HealthCheck.Protocol, Port: c.HealthCheck.Port, Interval: c.HealthCheck.Interval,
				Timeout: c.HealthCheck.Timeout, Retries: c.HealthCheck.Retries,
			},
		}
		if h := c.HealthCheck.HTTP; h != nil {
			opts.HealthCheck.HTTP = (*hcloud.LoadBalancerAddServiceOptsHealthCheckHTTP)(h)
		}
		return u.api.LoadBalancer.AddService(ctx, u.l, opts)
	}
	opts := hcloud.LoadBalancerUpdateServiceOpts{
		Protocol: c.Protocol, DestinationPort: c.DestinationPort, Proxyprotocol: c.Proxyprotocol,
		HealthCheck: &hcloud.LoadBalancerUpdateServiceOptsHealthCheck{
			Protocol: c.HealthCheck.Protocol, Port: c.HealthCheck.Port, Interval: c.HealthCheck.Interval,
			Timeout: c.HealthCheck.Timeout, Retries: c.HealthCheck.Retries,
		},
	}
	if h := c.HealthCheck.HTTP; h != nil {
		opts.HealthCheck.HTTP = (*hcloud.LoadBalancerUpdateServiceOptsHealthCheckHTTP)(h)
	}
	return u.api.LoadBalancer.UpdateService(ctx, u.l, w.ListenPort, opts)
}

func (u *balancerUpdate) reverseNames(ctx context.Context, fields []cloudplan.Field) error {
	for _, f := range fields {
		ip := u.have.PublicIPv4.IP
		if f.Item == string(hcloud.PrimaryIPTypeIPv6) {
			ip = u.have.PublicIPv6.IP
		}
		if err := u.reverse(ctx, u.l, ip, f.To); err != nil {
			return err
		}
	}
	return nil
}
