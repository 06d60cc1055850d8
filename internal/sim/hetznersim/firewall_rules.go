package hetznersim

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/labelselector"
)

// Limits of a firewall.
const (
	maxRules = 50
	maxCIDRs = 100 // of a rule
)

// checkRules notes what is wrong with the rules of a firewall, and returns them
// as the API shows them.
func checkRules(v *invalid, rules []rule) []rule {
	v.check(len(rules) <= maxRules, "rules", "Length must be between 0 and %d.", maxRules)
	shown := slices.Clone(rules)
	for i, r := range rules {
		at := fmt.Sprintf("rules.%d.", i)
		own, other, name := r.Sources, r.Destinations, "source_ips"
		switch r.Direction {
		case "in":
		case "out":
			own, other, name = other, own, "destination_ips"
		default:
			v.add(at+"direction", "Must be one of: in, out.")
		}
		v.check(len(own) > 0 && len(own) <= maxCIDRs, at+name, "Length must be between 1 and %d.", maxCIDRs)
		v.check(len(other) == 0, at+"direction", "Only %s may be set.", name)
		for _, cidr := range own {
			p, err := netip.ParsePrefix(cidr)
			v.check(err == nil && p.Masked() == p, at+name, "%q is not a valid CIDR with host bits unset.", cidr)
		}
		checkPort(v, at, r)
		shown[i].Sources, shown[i].Destinations = some(r.Sources), some(r.Destinations)
	}
	return shown
}

func checkPort(v *invalid, at string, r rule) {
	switch r.Protocol {
	case "tcp", "udp":
		v.check(r.Port != nil && validPorts(*r.Port), at+"port", "A port or a range of ports is required.")
	case "icmp", "esp", "gre":
		v.check(r.Port == nil, at+"port", "Not allowed for protocol %s.", r.Protocol)
	default:
		v.add(at+"protocol", "Must be one of: tcp, udp, icmp, esp, gre.")
	}
}

// validPorts accepts "80", "80-90" and "any".
func validPorts(text string) bool {
	if text == "any" {
		return true
	}
	from, to, isRange := strings.Cut(text, "-")
	a, err := strconv.Atoi(from)
	if err != nil || a < 1 || a > 65535 || !isRange {
		return err == nil && a >= 1 && a <= 65535
	}
	b, err := strconv.Atoi(to)
	return err == nil && a <= b && b <= 65535
}

// target is what a firewall is applied to.
type target struct {
	Type   string `json:"type"`
	Server *struct {
		ID int64 `json:"id"`
	} `json:"server"`
	Selector *struct {
		Selector string `json:"selector"`
	} `json:"label_selector"`
}

func (t target) check(v *invalid, at string) {
	switch t.Type {
	case kindServer:
		v.check(t.Server != nil, at+".server", missing)
	case "label_selector":
		v.check(t.Selector != nil && t.Selector.Selector != "", at+".label_selector", missing)
		if t.Selector != nil {
			_, err := labelselector.Parse(t.Selector.Selector)
			v.check(err == nil, at+".label_selector", "%v", err)
		}
	default:
		v.add(at+".type", "Must be one of: server, label_selector.")
	}
}

// refs are what an action about the target names besides the firewall.
func (t target) refs() []ref {
	if t.Server != nil {
		return []ref{{t.Server.ID, kindServer}}
	}
	return nil
}

func createFirewall(c *call) (reply, error) {
	in, err := decode[struct {
		Name    string            `json:"name"`
		Labels  map[string]string `json:"labels"`
		Rules   []rule            `json:"rules"`
		ApplyTo []target          `json:"apply_to"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	rules := checkRules(&v, in.Rules)
	if err := named(&v, kindFirewall, &c.st.firewalls, in.Name, in.Labels); err != nil {
		return reply{}, err
	}
	if err := c.within(c.cfg.Limits.Firewalls, len(c.st.firewalls.rows), kindFirewall); err != nil {
		return reply{}, err
	}
	f := &firewall{common: c.fresh(in.Name, in.Labels), Rules: rules}
	c.st.firewalls.put(f)
	actions := []*action{c.begin(job{command: "set_firewall_rules", on: []ref{f.ref()}})}
	applied, err := c.applyTargets(f, in.ApplyTo)
	if absent, is := err.(*apiError); is && absent.Code == "firewall_resource_not_found" {
		absent.Status = http.StatusUnprocessableEntity // which it has in this call alone
	}
	if err != nil {
		return reply{}, err
	}
	return created(obj{kindFirewall: c.st.viewFirewall(c.st.firewalls.get(f.ID)), "actions": c.actions(append(actions, applied...)...)})
}

// setRules replaces all rules; it has effect at once.
func setRules(c *call, f *firewall) (reply, error) {
	in, err := decode[struct {
		Rules *[]rule `json:"rules"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if in.Rules == nil {
		return reply{}, badField("rules", missing)
	}
	if err := c.lock(f.ref()); err != nil {
		return reply{}, err
	}
	var v invalid
	rules := checkRules(&v, *in.Rules)
	if err := v.err(); err != nil {
		return reply{}, err
	}
	before := f.Rules
	c.st.firewalls.change(f.ID, func(f *firewall) { f.Rules = rules })
	undo := func(st *state, _ time.Time) {
		st.firewalls.change(f.ID, func(f *firewall) { f.Rules = before })
	}
	actions := []*action{c.begin(job{command: "set_firewall_rules", on: []ref{f.ref()}, undo: undo})}
	for _, id := range c.st.coveredBy(f) {
		actions = append(actions, c.begin(job{command: "apply_firewall", on: []ref{f.ref(), {id, kindServer}}}))
	}
	return created(obj{"actions": c.actions(actions...)})
}

// coveredBy are the servers that a firewall is applied to.
func (st *state) coveredBy(f *firewall) (ids []int64) {
	for _, s := range st.servers.rows {
		if f.covers(s) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// applyTargets applies a firewall, with an action for each target.
func (c *call) applyTargets(f *firewall, targets []target) (actions []*action, err error) {
	var v invalid
	for i, t := range targets {
		t.check(&v, fmt.Sprintf("apply_to.%d", i))
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	for _, t := range targets {
		if t.Type == kindServer {
			err = c.st.applyFirewall(f.ID, t.Server.ID)
		} else if slices.Contains(c.st.firewalls.get(f.ID).Selectors, t.Selector.Selector) {
			err = fail("firewall_already_applied", "firewall is already applied to label selector %q", t.Selector.Selector)
		} else {
			c.st.firewalls.change(f.ID, func(f *firewall) { f.Selectors = with(f.Selectors, t.Selector.Selector) })
		}
		if err != nil {
			return nil, err
		}
		actions = append(actions, c.begin(job{command: "apply_firewall", on: append([]ref{f.ref()}, t.refs()...)}))
	}
	return actions, nil
}

func applyToResources(c *call, f *firewall) (reply, error) {
	in, err := decode[struct {
		ApplyTo []target `json:"apply_to"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if len(in.ApplyTo) == 0 {
		return reply{}, badField("apply_to", missing)
	}
	if err := c.lock(f.ref()); err != nil {
		return reply{}, err
	}
	actions, err := c.applyTargets(f, in.ApplyTo)
	if err != nil {
		return reply{}, err
	}
	return created(obj{"actions": c.actions(actions...)})
}

func removeFromResources(c *call, f *firewall) (reply, error) {
	in, err := decode[struct {
		RemoveFrom []target `json:"remove_from"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if len(in.RemoveFrom) == 0 {
		return reply{}, badField("remove_from", missing)
	}
	if err := c.lock(f.ref()); err != nil {
		return reply{}, err
	}
	var v invalid
	for i, t := range in.RemoveFrom {
		t.check(&v, fmt.Sprintf("remove_from.%d", i))
	}
	if err := v.err(); err != nil {
		return reply{}, err
	}
	var actions []*action
	for _, t := range in.RemoveFrom {
		if err := c.st.removeFirewall(f.ID, t); err != nil {
			return reply{}, err
		}
		actions = append(actions, c.begin(job{command: "remove_firewall", on: append([]ref{f.ref()}, t.refs()...)}))
	}
	return created(obj{"actions": c.actions(actions...)})
}

// removeFirewall removes a firewall from a target. To remove it where it is not
// applied has succeeded since 2025-08-04.
func (st *state) removeFirewall(id int64, t target) error {
	if t.Type == "label_selector" {
		st.firewalls.change(id, func(f *firewall) { f.Selectors = without(f.Selectors, t.Selector.Selector) })
		return nil
	}
	f, s := st.firewalls.get(id), st.servers.get(t.Server.ID)
	switch {
	case s == nil:
		return fail("firewall_resource_not_found", "server %d not found", t.Server.ID)
	case !slices.Contains(f.Servers, s.ID) && f.covers(s):
		return fail("firewall_managed_by_label_selector", "firewall is applied to server %d by a label selector", s.ID)
	}
	st.firewalls.change(id, func(f *firewall) { f.Servers = without(f.Servers, s.ID) })
	return nil
}
