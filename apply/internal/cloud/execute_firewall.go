package cloud

import (
	"context"
	"fmt"
	"net"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// firewallStep is a change of a firewall.
type firewallStep struct{ *step }

func firewallName(f schemas.InfraFirewall) string {
	if f.Name == "" {
		return fmt.Sprint(f.ExistingID)
	}
	return f.Name
}

func (s firewallStep) create(ctx context.Context) error {
	want, err := desired(s.step, s.plan.Desired.Firewalls, firewallName)
	if err != nil {
		return err
	}
	rules, err := rulesTo(want.Rules)
	if err != nil {
		return err
	}
	opts := hcloud.FirewallCreateOpts{Name: want.Name, Labels: cloudplan.MergeLabels(want.Labels, s.inputs.Notes), Rules: rules}
	if want.ApplyTo != "" {
		opts.ApplyTo = []hcloud.FirewallResource{bySelector(want.ApplyTo)}
	}
	made, _, err := s.api.Firewall.Create(ctx, opts)
	if err != nil {
		return err
	}
	s.made(made.Firewall.ID)
	return s.waiter.wait(ctx, made.Actions...)
}

// rulesTo writes rules as the API takes them: "any" is every port. No rules are an
// empty list, as Hetzner refuses null.
func rulesTo(rules []schemas.InfraRule) (out []hcloud.FirewallRule, err error) {
	out = []hcloud.FirewallRule{}
	for _, r := range rules {
		rule := hcloud.FirewallRule{
			Direction: hcloud.FirewallRuleDirection(r.Direction),
			Protocol:  hcloud.FirewallRuleProtocol(r.Protocol),
		}
		if rule.SourceIPs, err = networks(r.SourceIPs); err != nil {
			return nil, err
		}
		if rule.DestinationIPs, err = networks(r.DestinationIPs); err != nil {
			return nil, err
		}
		if r.Port != "" {
			rule.Port = hcloud.Ptr(r.Port)
		}
		if r.Description != "" {
			rule.Description = hcloud.Ptr(r.Description)
		}
		out = append(out, rule)
	}
	return out, nil
}

func networks(ranges []string) (out []net.IPNet, err error) {
	for _, r := range ranges {
		n, err := parseCIDR(r)
		if err != nil {
			return nil, err
		}
		out = append(out, *n)
	}
	return out, nil
}

func bySelector(selector string) hcloud.FirewallResource {
	return hcloud.FirewallResource{
		Type:          hcloud.FirewallResourceTypeLabelSelector,
		LabelSelector: &hcloud.FirewallResourceLabelSelector{Selector: selector},
	}
}

func byServer(id int64) hcloud.FirewallResource {
	return hcloud.FirewallResource{Type: hcloud.FirewallResourceTypeServer, Server: &hcloud.FirewallResourceServer{ID: id}}
}

func (s firewallStep) update(ctx context.Context) error {
	want, err := desired(s.step, s.plan.Desired.Firewalls, firewallName)
	if err != nil {
		return err
	}
	f := &hcloud.Firewall{ID: s.ID}
	return s.set(ctx,
		one{cloudplan.FieldRules, func(ctx context.Context, _ []cloudplan.Field) error {
			rules, err := rulesTo(want.Rules)
			if err != nil {
				return err
			}
			return s.awaitAll(ctx, "set its rules", func() ([]*hcloud.Action, *hcloud.Response, error) {
				return s.api.Firewall.SetRules(ctx, f, hcloud.FirewallSetRulesOpts{Rules: rules})
			})
		}},
		one{cloudplan.FieldApplyTo, s.applyTo},
		one{cloudplan.FieldLabels, func(ctx context.Context, _ []cloudplan.Field) error {
			have, err := observed(s.step, s.plan.Observed.Firewalls)
			if err != nil {
				return err
			}
			_, _, err = s.api.Firewall.Update(ctx, f, hcloud.FirewallUpdateOpts{Labels: cloudplan.MergeLabels(want.Labels, have.Labels)})
			return err
		}},
	)
}

// applyTo adds the selector that is missing before it takes others away, so
// that no server is open meanwhile.
func (s firewallStep) applyTo(ctx context.Context, fields []cloudplan.Field) error {
	var add, remove []hcloud.FirewallResource
	for _, f := range fields {
		if f.Edit == cloudplan.Add {
			add = append(add, bySelector(f.Item))
		} else {
			remove = append(remove, bySelector(f.Item))
		}
	}
	f := &hcloud.Firewall{ID: s.ID}
	if len(add) > 0 {
		if err := s.awaitAll(ctx, "apply it", func() ([]*hcloud.Action, *hcloud.Response, error) {
			return s.api.Firewall.ApplyResources(ctx, f, add)
		}); err != nil {
			return err
		}
	}
	if len(remove) == 0 {
		return nil
	}
	return s.awaitAll(ctx, "take it from servers", func() ([]*hcloud.Action, *hcloud.Response, error) {
		return s.api.Firewall.RemoveResources(ctx, f, remove)
	})
}

func (s firewallStep) remove(ctx context.Context) error { return s.client.removeFirewall(ctx, s.ID) }

// firewallCalls delete firewalls.
type firewallCalls struct{ *calls }

// removeFirewall deletes a firewall. One in use cannot be deleted, so it is
// taken from everything first that it is applied to by then.
func (c firewallCalls) removeFirewall(ctx context.Context, id int64) error {
	_, err := again(ctx, c.calls, func() (struct{}, error) { return struct{}{}, c.tryRemoveFirewall(ctx, id) })
	return err
}

// tryRemoveFirewall does so once. That nothing is left to do is told by what is read.
func (c firewallCalls) tryRemoveFirewall(ctx context.Context, id int64) error {
	f, _, err := c.api.Firewall.GetByID(ctx, id)
	if err != nil || f == nil {
		return done(err)
	}
	have := firewallFrom(f)
	used := append(convert(have.Selectors, bySelector), convert(have.Servers, byServer)...)
	if len(used) > 0 {
		actions, _, err := c.api.Firewall.RemoveResources(ctx, f, used)
		if err == nil {
			err = c.waiter.wait(ctx, actions...)
		}
		if err != nil {
			return done(err)
		}
	}
	_, err = c.api.Firewall.Delete(ctx, f)
	return done(err)
}
