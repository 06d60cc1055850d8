package cloud

import (
	"context"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// balancerUpdate is a change of a load balancer.
type balancerUpdate struct {
	balancerStep
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
	if fields[0].Edit == cloudplan.Add {
		return u.attach(ctx, u.l, u.want.PrivateIP)
	}
	for _, t := range u.have.Targets {
		if t.Private() {
			if err := u.removeTarget(ctx, u.l, t); err != nil {
				return err
			}
		}
	}
	if err := u.move(ctx); err != nil || u.want.PrivateIP == "" {
		return err
	}
	u.targeted = true
	return u.addTargets(ctx, u.l, cloudplan.WantedTargets(*u.want)...)
}

// move takes the load balancer out of the network, and puts it into it with its address.
// One without public addresses has them meanwhile, as it has to be somewhere: nobody gets
// further by them, for it has no targets then.
func (u *balancerUpdate) move(ctx context.Context) error {
	if !u.have.PublicInterface {
		if err := u.public(ctx, u.l, true); err != nil {
			return err
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
	if err := u.attach(ctx, u.l, u.want.PrivateIP); err != nil || u.have.PublicInterface || u.want.PublicInterface {
		return err
	}
	return u.public(ctx, u.l, false)
}

// targets removes what is there otherwise than it should be, and adds what
// should be there.
func (u *balancerUpdate) targets(ctx context.Context, fields []cloudplan.Field) error {
	for _, f := range fields {
		i := slices.IndexFunc(u.have.Targets, func(t cloudplan.Target) bool { return t.Is(f.Item) })
		if i >= 0 && (!u.targeted || !u.have.Targets[i].Private()) {
			if err := u.removeTarget(ctx, u.l, u.have.Targets[i]); err != nil {
				return err
			}
		}
		if f.Edit == cloudplan.Remove || u.targeted {
			continue
		}
		wanted := slices.DeleteFunc(cloudplan.WantedTargets(*u.want), func(t cloudplan.Target) bool { return !t.Is(f.Item) })
		if err := u.addTargets(ctx, u.l, wanted...); err != nil {
			return err
		}
	}
	return nil
}

// services makes way before it adds: a type has room for so many services.
func (u *balancerUpdate) services(ctx context.Context, fields []cloudplan.Field) error {
	for _, f := range fields {
		i := slices.IndexFunc(u.have.Services, func(s cloudplan.Service) bool { return s.Item() == f.Item })
		if f.Edit != cloudplan.Remove || i < 0 {
			continue
		}
		if err := u.await(ctx, "remove the service "+f.Item, func() (*hcloud.Action, *hcloud.Response, error) {
			return u.api.LoadBalancer.DeleteService(ctx, u.l, u.have.Services[i].ListenPort)
		}); err != nil {
			return err
		}
	}
	for _, f := range fields {
		i := slices.IndexFunc(u.want.Services, func(w schemas.InfraService) bool { return cloudplan.Service{InfraService: w}.Item() == f.Item })
		if f.Edit == cloudplan.Remove || i < 0 {
			continue
		}
		if err := u.await(ctx, "set the service "+f.Item, func() (*hcloud.Action, *hcloud.Response, error) {
			return u.setService(ctx, u.want.Services[i], f.Edit == cloudplan.Add)
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
		if err := u.reverse(ctx, u.l, ip, cloudplan.ReverseNameOf(u.want.ReverseDNS, f.Item, u.ID, ip)); err != nil {
			return err
		}
	}
	return nil
}
