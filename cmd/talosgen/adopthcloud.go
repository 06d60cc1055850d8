package main

import (
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/adopt"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/running"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/render/importer"
	"github.com/talosgen/talosgen/schemas"
)

// Flags of adopt about Hetzner Cloud.
const (
	flagHcloud = "hcloud"
	flagPlaces = "names"
)

// cloudAdoption is a cluster whose servers are in a project of Hetzner Cloud.
type cloudAdoption struct {
	project cloudplan.Observed
	mapping *adopt.Mapping
	labels  []cloudplan.Addition // that apply will add
}

// inCloud looks for the servers of nodes in the project, and describes them.
func (a adoptCommand) inCloud(c *cli.Context, nodes []importer.Running) (*cloudAdoption, error) {
	token := a.clusters.vars.secret(tokenVariable)
	if token.IsZero() {
		return nil, diag.On("--"+flagHcloud, "there is no token of the Hetzner Cloud project").
			WithHint("set HCLOUD_TOKEN; one that may only read is enough to adopt").WithCode(diag.Secrets)
	}
	a.importCommand.out.masker.Add(token)
	endpoint, err := a.endpoint(c)
	if err != nil {
		return nil, err
	}
	said, err := placesOf(c.String(flagPlaces))
	if err != nil {
		return nil, err
	}
	cluster, err := importer.Describe(nodes)
	if err != nil {
		return nil, err
	}
	found := &cloudAdoption{}
	found.project, err = running.Survey(c.Context, running.Project{
		Endpoint: endpoint, Token: token, HTTP: a.http, Version: version, Clock: a.clock, Rand: func() float64 { return jitter(a.random) },
	})
	if err != nil {
		return nil, err
	}
	in := adopt.Input{Cluster: cluster.Cluster, Project: found.project, Names: said, NodeCIDRs: cluster.NodeCIDRs}
	for _, n := range nodes {
		name := cluster.Nodes[n.Address]
		in.Nodes = append(in.Nodes, adopt.Node{Name: name, Address: n.Address, ControlPlane: cluster.ControlPlanes[name]})
	}
	found.mapping, err = adopt.Map(in)
	return found, err
}

// placesOf reads what people say of servers; nothing without a file.
func placesOf(file string) (adopt.Names, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, unreadable(file, err)
	}
	return adopt.ParseNames(file, data)
}

// options are what an import needs to know of the servers.
func (f *cloudAdoption) options() *importer.Hetzner {
	h := &importer.Hetzner{Options: optionsOf(f.mapping.Options)}
	for _, p := range f.mapping.Pools {
		h.Pools = append(h.Pools, importer.ServerPool{Name: p.Name, ControlPlane: p.ControlPlane, Nodes: p.Nodes, Options: optionsOf(p.Options)})
	}
	return h
}

func optionsOf(from []adopt.Option) (to []importer.Option) {
	for _, o := range from {
		to = append(to, importer.Option(o))
	}
	return to
}

// prove makes sure that an environment changes nothing about what there is, but adds
// labels.
func (f *cloudAdoption) prove(infra schemas.Infrastructure) error {
	p, err := cloudplan.Make(infra, f.project, plan.Consent{Adopt: named(infra)})
	if err != nil {
		return err
	}
	var made []plan.Key
	var others []string
	f.labels, made, others = p.Additions()
	for _, key := range made {
		if key == cloudplan.KeyOf(cloudplan.KindFirewall, infra.Cluster+"-records") {
			f.mapping.Notes = append(f.mapping.Notes, "apply makes the firewall "+infra.Cluster+"-records, which applies to nothing: it keeps notes, because the network is not the cluster's alone")
			continue
		}
		others = append(others, "create "+string(key))
	}
	var problems diag.List
	for _, other := range others {
		problems.Add(diag.On("Hetzner Cloud", "apply would change more than labels: %s", other).
			WithHint("nothing was written: make it so that it need not be changed, or adopt without --hcloud").WithCode(diag.Conflict))
	}
	return problems.Err()
}

// named are the objects of a cluster, as --adopt names them.
func named(infra schemas.Infrastructure) (keys []string) {
	add := func(kind cloudplan.Kind, name string) { keys = append(keys, string(cloudplan.KeyOf(kind, name))) }
	if n := infra.Network; n != nil && !n.Existing {
		add(cloudplan.KindNetwork, n.Name)
	}
	for _, g := range infra.PlacementGroups {
		add(cloudplan.KindPlacementGroup, g.Name)
	}
	for _, s := range infra.Servers {
		add(cloudplan.KindServer, s.Name)
	}
	for _, b := range infra.LoadBalancers {
		add(cloudplan.KindLoadBalancer, b.Name)
	}
	return keys
}

// adopts are the objects that apply has to be allowed to take over.
func (f *cloudAdoption) adopts() (keys []string) {
	for _, l := range f.labels {
		if l.Key == schemas.LabelManagedBy && !slices.Contains(keys, string(l.Object)) {
			keys = append(keys, string(l.Object))
		}
	}
	return keys
}

// show says what apply will do in the project, and what it will not.
func (f *cloudAdoption) show(out *console) {
	out.say("Hetzner Cloud: apply adds %s, and changes nothing else", natural.Count(len(f.labels), "label"))
	for i, l := range f.labels {
		if i == 0 || f.labels[i-1].Object != l.Object {
			var of []string
			for _, other := range f.labels {
				if other.Object == l.Object {
					of = append(of, other.Text)
				}
			}
			out.say("  %s: %s", l.Object, strings.Join(of, ", "))
		}
	}
	for _, note := range slices.Concat(f.mapping.Notes, f.mapping.Module.Farewell(), f.mapping.Forecast(f.labels)) {
		out.say("%s", note)
	}
}
