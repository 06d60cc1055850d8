package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/schemas"
)

// Input is what a rendered tree says.
type Input struct {
	Environment string
	// Where the tree is in the repository: what Flux is told about it.
	Dir            string
	Infrastructure schemas.Infrastructure
	// The versions that the nodes are configured for; empty if that cannot be
	// told.
	Talos, Kubernetes string
	// The files of the tree, by path. Only those with Kubernetes objects are
	// looked at.
	Files map[string][]byte
}

// New makes the picture of an environment.
func New(in Input) (*Picture, error) {
	b := &builder{infra: in.Infrastructure, in: in}
	b.pools = append(poolsOfServers(b.infra), poolsOfMachines(b.infra)...)
	b.picture = &Picture{Title: in.Environment, Subtitle: b.subtitle()}
	b.outside()
	if b.infra.Provider == schemas.Static {
		b.machines()
	} else {
		b.network()
	}
	if err := b.kubernetes(); err != nil {
		return nil, err
	}
	b.ways()
	return b.picture, nil
}

type builder struct {
	in      Input
	infra   schemas.Infrastructure
	pools   []pool
	picture *Picture
}

// subtitle is what the cluster is, in a line.
func (b *builder) subtitle() string {
	var parts []string
	if b.infra.Cluster != b.in.Environment {
		parts = append(parts, "cluster "+b.infra.Cluster)
	}
	if b.in.Kubernetes != "" {
		parts = append(parts, "Kubernetes "+b.in.Kubernetes)
	}
	if b.in.Talos != "" {
		parts = append(parts, "Talos "+b.in.Talos)
	}
	nodes := 0
	for _, p := range b.pools {
		nodes += len(p.nodes)
	}
	where := "at Hetzner Cloud"
	if b.infra.Provider == schemas.Static {
		where = "that exist already"
	}
	return strings.Join(append(parts, natural.Count(nodes, "node")+" "+where), " · ")
}

// outside draws who comes to the cluster, and by what.
func (b *builder) outside() {
	row := Row{ID: "outside", Title: "outside", Cards: []Card{b.people()}}
	for _, f := range b.infra.Firewalls {
		if f.ApplyTo != "" {
			row.Cards = append(row.Cards, b.firewall(f))
		}
	}
	for _, ip := range b.infra.FloatingIPs {
		row.Cards = append(row.Cards, floatingIP(ip))
	}
	for _, r := range b.infra.DNSRecords {
		row.Cards = append(row.Cards, dnsRecord(r))
	}
	b.picture.Groups = append(b.picture.Groups, Group{Rows: []Row{row}})
}

const peopleID = "people"

func (b *builder) people() Card {
	api, access := b.infra.KubernetesAPI, b.infra.Access
	c := Card{ID: peopleID, Kind: People, Title: "you"}
	switch {
	case api.ExternalEndpoint != "":
		c.Lines = append(c.Lines, Line{Left: "kubectl: " + bare(api.ExternalEndpoint)})
	case len(api.External) > 0:
		c.Lines = append(c.Lines, Line{Left: "kubectl: the address of " + targetName(api.External[0])})
	}
	switch {
	case access.Jump != "":
		c.Lines = append(c.Lines, Line{Left: "nodes: SSH through " + access.Jump})
	case access.Mode == "public":
		c.Lines = append(c.Lines, Line{Left: "nodes: by their public addresses"})
	case access.Mode == "private":
		c.Lines = append(c.Lines, Line{Left: "nodes: from the private network"})
	default:
		c.Lines = append(c.Lines, Line{Left: "nodes: by their addresses"})
	}
	return c
}

// bare is a URL without its scheme.
func bare(url string) string {
	_, rest, found := strings.Cut(url, "://")
	if !found {
		return url
	}
	return rest
}

func targetName(t schemas.InfraTarget) string {
	return cmp.Or(t.Name, fmt.Sprintf("%s %d", t.Kind, t.ID))
}

func (b *builder) firewall(f schemas.InfraFirewall) Card {
	c := Card{ID: firewallID(f), Objects: []string{firewallID(f)}, Kind: Firewall, Title: cmp.Or(f.Name, fmt.Sprintf("firewall %d", f.ExistingID))}
	const most = 4
	for i, r := range f.Rules {
		if i == most {
			c.Lines = append(c.Lines, Line{Left: "and " + natural.Count(len(f.Rules)-most, "more rule")})
			break
		}
		c.Lines = append(c.Lines, Line{Left: r.Description, Right: ruleText(r)})
	}
	switch access := b.infra.Access; {
	case f.ExistingID != 0:
		c.Lines = append(c.Lines, Line{Left: "exists already"})
	case access.CurrentIPv4 || access.CurrentIPv6:
		c.Lines = append(c.Lines, Line{Left: "lets you in while apply runs"})
	case len(f.Rules) == 0:
		c.Lines = append(c.Lines, Line{Left: "blocks all"})
	}
	return c
}

func firewallID(f schemas.InfraFirewall) string {
	return "firewall/" + cmp.Or(f.Name, fmt.Sprint(f.ExistingID))
}

// ruleText says what a rule lets through, and for whom.
func ruleText(r schemas.InfraRule) string {
	what := r.Protocol
	if r.Port != "" {
		what = r.Port + "/" + r.Protocol
	}
	who, preposition := r.SourceIPs, " from "
	if r.Direction == "out" {
		who, preposition = r.DestinationIPs, " to "
	}
	switch len(who) {
	case 0:
		return what
	case 1:
		return what + preposition + who[0]
	}
	if slices.Contains(who, "0.0.0.0/0") {
		return what + preposition + "anywhere"
	}
	return what + preposition + natural.Count(len(who), "range")
}

func floatingIP(ip schemas.InfraFloatingIP) Card {
	c := Card{ID: "floating-ip/" + cmp.Or(ip.Name, fmt.Sprint(ip.ExistingID)), Kind: FloatingIP, Title: cmp.Or(ip.Name, fmt.Sprintf("floating IP %d", ip.ExistingID))}
	c.Objects = []string{c.ID}
	if ip.ExistingID != 0 {
		c.Lines = []Line{{ip.Type, "exists already"}}
	} else {
		c.Lines = []Line{{ip.Type, ip.Location}}
	}
	return c
}

func dnsRecord(r schemas.InfraDNSRecord) Card {
	name := r.Name + "." + r.Zone
	if r.Name == "@" {
		name = r.Zone
	}
	c := Card{ID: "dns/" + name + "/" + r.Type, Objects: []string{"dns-record/" + name + "/" + r.Type}, Kind: DNSRecord, Title: name}
	to := slices.Clone(r.Values)
	for _, t := range r.Targets {
		to = append(to, targetName(t))
	}
	for _, line := range shortened(to) {
		c.Lines = append(c.Lines, Line{Left: r.Type, Right: line})
	}
	return c
}

// shortened leaves out the middle of a long list.
func shortened(all []string) []string {
	const most = 4
	if len(all) <= most {
		return all
	}
	return []string{all[0], fmt.Sprintf("… %d more", len(all)-2), all[len(all)-1]}
}
