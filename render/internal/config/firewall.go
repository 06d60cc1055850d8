package config

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Limits of a firewall in Hetzner Cloud.
const (
	maxFirewallRules = 50
	maxRuleSubnets   = 100
	ownRules         = 2 // for the two APIs
)

// firewallRules are about who is let in.
type firewallRules struct{ *reporter }

func (ch firewallRules) check() {
	f, at := ch.Hetzner.Firewall, keys("hetzner.firewall")
	if f.ExistingID != 0 {
		for _, key := range []string{"apiSource", "kubeApiSource", "talosApiSource", "extraRules"} {
			if ch.has(sub(at, key)...) {
				ch.fail("a firewall that exists has rules of its own; remove one of them", sub(at, key), "%s beside existingId", key)
			}
		}
	}
	if ch.has(sub(at, "applyTo")...) && f.ExistingID == 0 {
		ch.fail("a firewall of the cluster's own is applied by a label selector", sub(at, "applyTo"), "applyTo without existingId")
	}
	if len(f.ExtraRules)+ownRules > maxFirewallRules {
		ch.fail("", sub(at, "extraRules"), "%d rules, with those for the APIs; a firewall takes at most %d", len(f.ExtraRules)+ownRules, maxFirewallRules)
	}
	for _, key := range []string{"apiSource", "kubeApiSource", "talosApiSource"} {
		list := map[string][]string{"apiSource": f.APISource, "kubeApiSource": f.KubeAPISource, "talosApiSource": f.TalosAPISource}[key]
		if ch.has(sub(at, key)...) && len(list) > maxRuleSubnets {
			ch.fail("", sub(at, key), "%d subnets; a rule takes at most %d", len(list), maxRuleSubnets)
		}
	}
	for i := range f.ExtraRules {
		ch.checkRule(append(sub(at, "extraRules"), strconv.Itoa(i)), i)
	}
	ch.checkAPISources()
}

// checkRule checks what belongs together in a rule.
func (ch firewallRules) checkRule(at []string, i int) {
	rule := ch.Hetzner.Firewall.ExtraRules[i]
	needed, wrong, subnets := "sourceIps", "destinationIps", len(rule.SourceIPs)
	if rule.Direction == "out" {
		needed, wrong, subnets = wrong, needed, len(rule.DestinationIPs)
	}
	switch {
	case subnets == 0 && !ch.has(sub(at, needed)...):
		ch.fail("everyone is [0.0.0.0/0, '::/0']", at, "a rule for direction %s without %s", rule.Direction, needed)
	case subnets > maxRuleSubnets:
		ch.fail("", sub(at, needed), "%d subnets; a rule takes at most %d", subnets, maxRuleSubnets)
	}
	if ch.has(sub(at, wrong)...) {
		ch.fail("", sub(at, wrong), "%s is not for direction %s", wrong, rule.Direction)
	}
	switch ports := rule.Protocol == "tcp" || rule.Protocol == "udp"; {
	case rule.Protocol == "":
	case ports && !ch.has(sub(at, "port")...):
		ch.fail("for example port: 443, or port: any", at, "a rule for %s without port", rule.Protocol)
	case !ports && ch.has(sub(at, "port")...):
		ch.fail("", sub(at, "port"), "%s has no ports", rule.Protocol)
	}
}

// checkAPISources makes sure that nobody takes a restriction for one that it is
// not: Hetzner's firewalls do not filter load balancers.
func (ch firewallRules) checkAPISources() {
	lb, f := ch.Hetzner.APILoadBalancer, ch.Hetzner.Firewall
	if !lb.Enabled || !*lb.PublicNetwork || f.AcknowledgeOpenLoadBalancer || len(f.KubeAPISource) == 0 {
		return
	}
	everyone := func(text string) bool {
		p, err := netip.ParsePrefix(text)
		return err != nil || p.Bits() == 0
	}
	if slices.ContainsFunc(f.KubeAPISource, everyone) {
		return
	}
	at := keys("hetzner.firewall.kubeApiSource")
	if !ch.has(at...) {
		at = keys("hetzner.firewall.apiSource")
	}
	ch.fail("Hetzner's firewalls do not filter load balancers: set hetzner.apiLoadBalancer.publicNetwork: false,\n"+
		"or hetzner.firewall.acknowledgeOpenLoadBalancer: true if that is meant", at,
		"the Kubernetes API is for %s only, but its load balancer is public", strings.Join(f.KubeAPISource, ", "))
}
