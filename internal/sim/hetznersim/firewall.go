package hetznersim

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/internal/sorting"
)

// firewall filters what reaches the public interfaces of servers.
type firewall struct {
	common
	Rules     []rule
	Servers   []int64  // applied by hand
	Selectors []string // applied to what they match
}

const kindFirewall = "firewall"

func (f *firewall) ref() ref { return ref{f.ID, kindFirewall} }

type rule struct {
	Description  *string  `json:"description"`
	Direction    string   `json:"direction"`
	Sources      []string `json:"source_ips"`
	Destinations []string `json:"destination_ips"`
	Protocol     string   `json:"protocol"`
	Port         *string  `json:"port"`
}

type firewallView struct {
	ID        int64             `json:"id"`
	Name      string            `json:"name"`
	Labels    map[string]string `json:"labels"`
	Created   time.Time         `json:"created"`
	Rules     []rule            `json:"rules"`
	AppliedTo []obj             `json:"applied_to"`
}

func (st *state) viewFirewall(f *firewall) firewallView {
	v := firewallView{ID: f.ID, Name: f.Name, Labels: filled(f.Labels), Created: f.Created, Rules: some(inFirst(f.Rules)), AppliedTo: []obj{}}
	for _, id := range f.Servers {
		v.AppliedTo = append(v.AppliedTo, obj{"type": kindServer, kindServer: obj{"id": id}})
	}
	for _, text := range f.Selectors {
		members := []obj{}
		for _, id := range st.selected(text) {
			members = append(members, obj{"type": kindServer, kindServer: obj{"id": id}})
		}
		v.AppliedTo = append(v.AppliedTo, obj{"type": "label_selector",
			"label_selector": obj{"selector": text}, "applied_to_resources": members})
	}
	return v
}

// inFirst are rules in the order of the API: those for what comes in, then those
// for what goes out, each as they were given.
func inFirst(rules []rule) []rule {
	rules = slices.Clone(rules)
	sorting.By(rules, func(a, b rule) int { return strings.Compare(a.Direction, b.Direction) })
	return rules
}

// selected are the servers that a label selector matches, and has noticed.
func (st *state) selected(text string) (ids []int64) {
	s, err := labelselector.Parse(text)
	if err != nil {
		return nil // it was checked when it came in
	}
	for _, r := range st.servers.rows {
		if s.Matches(r.Labels) && !st.unnoticed(r) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// firewallsOf are the firewalls of a server, as it shows them.
func (st *state) firewallsOf(s *server) []firewallSeen {
	seen := []firewallSeen{}
	for _, f := range st.firewalls.rows {
		if !f.covers(s) {
			continue
		}
		status := "applied"
		if !slices.Contains(f.Servers, s.ID) && st.unnoticed(s) {
			status = "pending"
		}
		seen = append(seen, firewallSeen{f.ID, status})
	}
	return seen
}

// unnoticed reports whether label selectors have not seen the labels of a
// server yet.
func (st *state) unnoticed(s *server) bool { return st.now.Sub(s.labelled) < st.selectorDelay }

func (f *firewall) covers(s *server) bool {
	return slices.Contains(f.Servers, s.ID) || slices.ContainsFunc(f.Selectors, func(text string) bool {
		sel, err := labelselector.Parse(text)
		return err == nil && sel.Matches(s.Labels)
	})
}

// maxFirewalls is how many firewalls a server can have.
const maxFirewalls = 5

// applyFirewall applies a firewall to a server by hand.
func (st *state) applyFirewall(id, server int64) error {
	f, s := st.firewalls.get(id), st.servers.get(server)
	switch {
	case f == nil:
		return notFound(kindFirewall, id)
	case s == nil:
		return fail("firewall_resource_not_found", "server %d not found", server)
	case s.Status != initializing && s.IPv4 == 0 && s.IPv6 == 0:
		return fail("private_net_only_server", "server %d has no public interface", server)
	case slices.Contains(f.Servers, server):
		return fail("firewall_already_applied", "firewall is already applied to server %d", server)
	case len(st.firewallsOf(s)) >= maxFirewalls:
		return overLimit("firewalls per server limit exceeded", "firewalls_per_server_limit")
	}
	st.firewalls.change(id, func(f *firewall) { f.Servers = with(f.Servers, server) })
	return nil
}

// leaveFirewalls forgets a server that is deleted.
func (st *state) leaveFirewalls(server int64) {
	for _, f := range slices.Clone(st.firewalls.rows) {
		if slices.Contains(f.Servers, server) {
			st.firewalls.change(f.ID, func(f *firewall) { f.Servers = without(f.Servers, server) })
		}
	}
}

func firewallRoutes() []route {
	const one = "/firewalls/{id}"
	return []route{
		{http.MethodGet, "/firewalls", listFirewalls},
		{http.MethodPost, "/firewalls", createFirewall},
		{http.MethodGet, one, onFirewall(func(c *call, f *firewall) (reply, error) {
			return ok(obj{kindFirewall: c.st.viewFirewall(f)})
		})},
		{http.MethodPut, one, onFirewall(updateFirewall)},
		{http.MethodDelete, one, onFirewall(deleteFirewall)},
		{http.MethodPost, one + "/actions/set_rules", onFirewall(setRules)},
		{http.MethodPost, one + "/actions/apply_to_resources", onFirewall(applyToResources)},
		{http.MethodPost, one + "/actions/remove_from_resources", onFirewall(removeFromResources)},
	}
}

func onFirewall(do func(*call, *firewall) (reply, error)) handler {
	return on(kindFirewall, func(st *state) *table[firewall, *firewall] { return &st.firewalls }, do)
}

func listFirewalls(c *call) (reply, error) {
	return rowsOf("firewalls", &c.st.firewalls, func(f *firewall) any { return c.st.viewFirewall(f) }).answer(c)
}

func updateFirewall(c *call, f *firewall) (reply, error) {
	in, err := decode[update](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.lock(f.ref()); err != nil {
		return reply{}, err
	}
	if f, err = apply(in, kindFirewall, &c.st.firewalls, f); err != nil {
		return reply{}, err
	}
	return ok(obj{kindFirewall: c.st.viewFirewall(f)})
}

func deleteFirewall(c *call, f *firewall) (reply, error) {
	if len(f.Servers)+len(f.Selectors) > 0 {
		return reply{}, fail("resource_in_use", "firewall with ID %d is still in use", f.ID)
	}
	if err := c.lock(f.ref()); err != nil {
		return reply{}, err
	}
	c.st.firewalls.drop(f.ID)
	return noContent()
}
