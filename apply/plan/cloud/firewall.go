package cloud

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/schemas"
)

// firewalls plans firewalls.
type firewalls struct{ *planner }

// compare compares firewalls: rules as a set, and what they apply to.
func (p *firewalls) compare() {
	for _, want := range p.desired.Firewalls {
		if want.ExistingID != 0 {
			p.foreignFirewall(want)
			continue
		}
		have, blocked := claim(p.planner, KindFirewall, want.Name, p.observed.Firewalls)
		switch {
		case blocked:
		case have == nil:
			p.createFirewall(want)
		default:
			d := buildChange(KindFirewall, want.Name, have.ID, Update)
			d.rules(have.Rules, want.Rules)
			d.applyTo(have.Selectors, want.ApplyTo, anySelector)
			d.labels(have.Labels, want.Labels)
			p.add(d)
			p.foreignMembers(d.Key, have)
		}
	}
	stale(p.planner, KindFirewall, p.observed.Firewalls, func(f *Firewall) {
		d := buildChange(KindFirewall, f.Name, f.ID, Delete)
		d.Destructive, d.Reason = true, unwanted
		p.needsLeaving(d, f.ID)
		p.add(d)
	})
}

// needsLeaving lets the deletion of a firewall wait for the servers that go
// too: until then it protects them.
func (p *firewalls) needsLeaving(d *changeBuilder, id int64) {
	for _, s := range p.observed.Servers {
		if slices.ContainsFunc(s.Firewalls, func(a AppliedFirewall) bool { return a.ID == id }) {
			d.after(KeyOf(KindServer, s.Name))
		}
	}
}

func (p *firewalls) createFirewall(want schemas.InfraFirewall) {
	d := buildChange(KindFirewall, want.Name, 0, Create)
	d.Reason = missing
	d.rules(nil, want.Rules)
	d.applyTo(nil, want.ApplyTo, anySelector)
	p.add(d)
}

// firewallName is how a firewall is called in a plan.
func firewallName(f schemas.InfraFirewall) string {
	if f.Name == "" {
		return idText(f.ExistingID)
	}
	return f.Name
}

// foreignFirewall only adds what a firewall of somebody else applies to.
func (p *firewalls) foreignFirewall(want schemas.InfraFirewall) {
	name := firewallName(want)
	i := slices.IndexFunc(p.observed.Firewalls, func(f Firewall) bool { return f.ID == want.ExistingID })
	if i < 0 {
		p.refusal(KeyOf(KindFirewall, name), "there is no such firewall in the project", "make it, or correct the firewall in cluster.yaml")
		return
	}
	have := p.observed.Firewalls[i]
	p.use(KindFirewall, name, have.ID)
	d := buildChange(KindFirewall, name, have.ID, Update)
	if !want.Direct {
		d.applyTo(have.Selectors, want.ApplyTo, p.owner.ourSelector)
	}
	p.add(d)
}

// foreignMembers warns of servers of others behind a firewall of the cluster.
func (p *firewalls) foreignMembers(key plan.Key, have *Firewall) {
	for _, id := range have.Servers {
		i := slices.IndexFunc(p.observed.Servers, func(s Server) bool { return s.ID == id })
		if i < 0 || !p.owner.marked(p.observed.Servers[i].Labels) && !p.owner.servers[id] {
			p.warn(key, fmt.Sprintf("it is applied to %s, which is not the cluster's", p.observed.serverKey(id)), "it is left there: without it that server might be open")
		}
	}
}

// anySelector is for the cluster's own firewalls: every selector at them is ours
// to remove.
func anySelector(string) bool { return true }

// ourSelector reports whether a selector at a firewall of somebody else is the
// cluster's: it selects servers of this cluster only.
func (o owner) ourSelector(text string) bool {
	ours := schemas.LabelCluster + "=" + o.cluster
	return slices.Contains(strings.Split(canonicalSelector(text), ","), ours)
}

// applyTo compares the label selectors of a firewall. Others are removed if they
// are ours.
func (d *changeBuilder) applyTo(have []string, want string, ours func(string) bool) {
	there := false
	for _, s := range have {
		if sameSelector(s, want) {
			there = true
		} else if ours(s) {
			d.field(Field{Name: FieldApplyTo, Item: s, from: "applied", Class: InPlace, Reason: "not in Git"})
		}
	}
	if want != "" && !there {
		d.field(Field{Name: FieldApplyTo, Item: want, to: "applied", Class: InPlace})
	}
}

// canonicalSelector writes equal selectors in one form.
func canonicalSelector(text string) string {
	s, err := labelselector.Parse(text)
	if err != nil {
		return text
	}
	return s.String()
}

func sameSelector(a, b string) bool { return canonicalSelector(a) == canonicalSelector(b) }

// rules compares rules as sets: their order means nothing.
func (d *changeBuilder) rules(have, want []schemas.InfraRule) {
	was, will := ruleTexts(have), ruleTexts(want)
	for _, text := range was {
		if !slices.Contains(will, text) {
			d.field(Field{Name: FieldRules, Item: text, from: "there", Class: InPlace})
		}
	}
	for _, text := range will {
		if !slices.Contains(was, text) {
			d.field(Field{Name: FieldRules, Item: text, to: "there", Class: InPlace})
		}
	}
}

func ruleTexts(rules []schemas.InfraRule) []string {
	texts := make([]string, len(rules))
	for i, r := range rules {
		texts[i] = ruleText(r)
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// ruleText writes a rule in one form: in tcp 6443 from 0.0.0.0/0 "Kubernetes API".
func ruleText(r schemas.InfraRule) string {
	parts := []string{r.Direction, r.Protocol}
	if r.Port != "" {
		parts = append(parts, r.Port)
	}
	if len(r.SourceIPs) > 0 {
		parts = append(parts, "from "+ranges(r.SourceIPs))
	}
	if len(r.DestinationIPs) > 0 {
		parts = append(parts, "to "+ranges(r.DestinationIPs))
	}
	if r.Description != "" {
		parts = append(parts, fmt.Sprintf("%q", r.Description))
	}
	return strings.Join(parts, " ")
}

// ranges writes a set of ranges in one form. A single address is a range.
func ranges(list []string) string {
	texts := make([]string, len(list))
	for i, text := range list {
		texts[i] = text
		if a, err := netip.ParseAddr(text); err == nil {
			texts[i] = netip.PrefixFrom(a, a.BitLen()).String()
		} else if p := parsePrefix(text); p.IsValid() {
			texts[i] = p.String()
		}
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ",")
}
