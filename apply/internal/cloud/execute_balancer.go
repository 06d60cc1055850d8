package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// balancerStep is a change of a load balancer.
type balancerStep struct{ *step }

func (s balancerStep) wanted() (*schemas.InfraLoadBalancer, error) {
	return desired(s.step, s.plan.Desired.LoadBalancers, func(w schemas.InfraLoadBalancer) string { return w.Name })
}

// create makes a load balancer. The call that creates it can neither
// choose its address in the network nor have targets there; nor can it be
// without public addresses before it is in a network.
func (s balancerStep) create(ctx context.Context) error {
	want, err := s.wanted()
	if err != nil {
		return err
	}
	opts := hcloud.LoadBalancerCreateOpts{
		Name:             want.Name,
		LoadBalancerType: &hcloud.LoadBalancerType{Name: want.Type},
		Algorithm:        &hcloud.LoadBalancerAlgorithm{Type: hcloud.LoadBalancerAlgorithmType(want.Algorithm)},
		Location:         &hcloud.Location{Name: want.Location},
		Labels:           want.Labels,
	}
	for _, service := range want.Services {
		opts.Services = append(opts.Services, createService(service))
	}
	made, _, err := s.api.LoadBalancer.Create(ctx, opts)
	if err != nil {
		return err
	}
	have := loadBalancerFrom(made.LoadBalancer)
	s.made(have.ID)
	if err := s.waiter.wait(ctx, made.Action); err != nil {
		return err
	}
	s.mu.Lock()
	s.found.LoadBalancers = append(s.found.LoadBalancers, have)
	s.mu.Unlock()
	return s.finish(ctx, want, have)
}

// finish does what the call that creates a load balancer does not.
func (s balancerStep) finish(ctx context.Context, want *schemas.InfraLoadBalancer, have cloudplan.LoadBalancer) error {
	l := &hcloud.LoadBalancer{ID: have.ID}
	if want.PrivateIP != "" {
		if err := s.attach(ctx, l, want.PrivateIP); err != nil {
			return err
		}
	}
	if !want.PublicInterface {
		if err := s.public(ctx, l, false); err != nil {
			return err
		}
	}
	if err := s.addTargets(ctx, l, cloudplan.WantedTargets(*want)...); err != nil {
		return err
	}
	for _, a := range []struct{ ip, template string }{
		{have.PublicIPv4.IP, want.ReverseDNS.IPv4}, {have.PublicIPv6.IP, want.ReverseDNS.IPv6},
	} {
		if a.ip != "" && a.template != "" {
			if err := s.reverse(ctx, l, a.ip, cloudplan.ReverseName(a.template, have.ID, a.ip)); err != nil {
				return err
			}
		}
	}
	if want.Protected {
		return s.protect(ctx, l, true)
	}
	return nil
}

func (s balancerStep) update(ctx context.Context) error {
	want, err := s.wanted()
	if err != nil {
		return err
	}
	have, err := observed(s.step, s.plan.Observed.LoadBalancers)
	if err != nil {
		return err
	}
	u := &balancerUpdate{balancerStep: s, want: want, have: have, l: &hcloud.LoadBalancer{ID: s.ID}}
	return s.set(ctx,
		one{cloudplan.FieldLabels, u.labels},
		one{cloudplan.FieldType, u.resize},
		one{cloudplan.FieldAlgorithm, u.algorithm},
		one{cloudplan.FieldPrivateIP, u.privateIP},
		one{cloudplan.FieldPublic, func(ctx context.Context, _ []cloudplan.Field) error {
			return s.public(ctx, u.l, want.PublicInterface)
		}},
		one{cloudplan.FieldServices, u.services},
		one{cloudplan.FieldTargets, u.targets},
		one{cloudplan.FieldReverseDNS, u.reverseNames},
		one{cloudplan.FieldProtected, func(ctx context.Context, _ []cloudplan.Field) error {
			return s.protect(ctx, u.l, want.Protected)
		}},
	)
}

// public turns the public addresses of a load balancer on or off.
func (s balancerStep) public(ctx context.Context, l *hcloud.LoadBalancer, wanted bool) error {
	if wanted {
		return s.await(ctx, "turn its public addresses on", func() (*hcloud.Action, *hcloud.Response, error) {
			return s.api.LoadBalancer.EnablePublicInterface(ctx, l)
		})
	}
	return s.await(ctx, "turn its public addresses off", func() (*hcloud.Action, *hcloud.Response, error) {
		return s.api.LoadBalancer.DisablePublicInterface(ctx, l)
	})
}

func (s balancerStep) attach(ctx context.Context, l *hcloud.LoadBalancer, ip string) error {
	return s.changeNetwork(ctx, "attach it to the network with "+ip, func(n *hcloud.Network) (*hcloud.Action, *hcloud.Response, error) {
		return s.api.LoadBalancer.AttachToNetwork(ctx, l, hcloud.LoadBalancerAttachToNetworkOpts{Network: n, IP: net.ParseIP(ip)})
	})
}

// addTargets adds targets, which Git has: servers with labels, and addresses.
func (s balancerStep) addTargets(ctx context.Context, l *hcloud.LoadBalancer, targets ...cloudplan.Target) error {
	for _, t := range targets {
		err := s.await(ctx, "add the target "+t.Item(), func() (*hcloud.Action, *hcloud.Response, error) {
			if t.IP != "" {
				return s.api.LoadBalancer.AddIPTarget(ctx, l, hcloud.LoadBalancerAddIPTargetOpts{IP: net.ParseIP(t.IP)})
			}
			return s.api.LoadBalancer.AddLabelSelectorTarget(ctx, l, hcloud.LoadBalancerAddLabelSelectorTargetOpts{
				Selector: t.Selector, UsePrivateIP: &t.UsePrivateIP,
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// removeTarget takes a target away.
func (s balancerStep) removeTarget(ctx context.Context, l *hcloud.LoadBalancer, t cloudplan.Target) error {
	return s.await(ctx, "remove the target "+t.Item(), func() (*hcloud.Action, *hcloud.Response, error) {
		switch {
		case t.Selector != "":
			return s.api.LoadBalancer.RemoveLabelSelectorTarget(ctx, l, t.Selector)
		case t.Server != 0:
			return s.api.LoadBalancer.RemoveServerTarget(ctx, l, &hcloud.Server{ID: t.Server})
		default:
			return s.api.LoadBalancer.RemoveIPTarget(ctx, l, net.ParseIP(t.IP))
		}
	})
}

func (s balancerStep) protect(ctx context.Context, l *hcloud.LoadBalancer, on bool) error {
	return s.await(ctx, "change its protection", func() (*hcloud.Action, *hcloud.Response, error) {
		return s.api.LoadBalancer.ChangeProtection(ctx, l, hcloud.LoadBalancerChangeProtectionOpts{Delete: &on})
	})
}

func (s balancerStep) remove(ctx context.Context) error {
	if s.LiftProtection {
		if err := s.protect(ctx, &hcloud.LoadBalancer{ID: s.ID}, false); err != nil {
			return done(err)
		}
	}
	action, err := s.drop(ctx, s.ID)
	if err == nil {
		err = s.waiter.wait(ctx, action)
	}
	return done(err)
}

// drop deletes a load balancer. Since 2026-10-05 the answer holds an
// action; before, it was empty, which hcloud-go cannot read.
func (s balancerStep) drop(ctx context.Context, id int64) (*hcloud.Action, error) {
	req, err := s.api.NewRequest(ctx, http.MethodDelete, fmt.Sprintf("/load_balancers/%d", id), nil)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	if _, err := s.api.Do(req, &body); err != nil || body.Len() == 0 {
		return nil, err
	}
	var answer schema.ActionGetResponse
	if err := json.Unmarshal(body.Bytes(), &answer); err != nil {
		return nil, diag.On(s.object, "the answer to its deletion cannot be read: %v", err).WithCode(diag.Remote)
	}
	if answer.Action.ID == 0 {
		return nil, nil
	}
	return hcloud.ActionFromSchema(answer.Action), nil
}

func createService(w schemas.InfraService) hcloud.LoadBalancerCreateOptsService {
	h := w.HealthCheck
	out := hcloud.LoadBalancerCreateOptsService{
		Protocol:        hcloud.LoadBalancerServiceProtocol(w.Protocol),
		ListenPort:      &w.ListenPort,
		DestinationPort: &w.DestinationPort,
		Proxyprotocol:   &w.ProxyProtocol,
		HealthCheck: &hcloud.LoadBalancerCreateOptsServiceHealthCheck{
			Protocol: hcloud.LoadBalancerServiceProtocol(h.Protocol),
			Port:     &h.Port,
			Interval: seconds(h.Interval),
			Timeout:  seconds(h.Timeout),
			Retries:  &h.Retries,
		},
	}
	if h.Protocol == string(hcloud.LoadBalancerServiceProtocolHTTP) {
		out.HealthCheck.HTTP = &hcloud.LoadBalancerCreateOptsServiceHealthCheckHTTP{
			Domain: hcloud.Ptr(""), Path: &h.Path, Response: &h.Response, StatusCodes: h.StatusCodes, TLS: &h.TLS,
		}
	}
	return out
}

func seconds(n int) *time.Duration {
	d := time.Duration(n) * time.Second
	return &d
}
