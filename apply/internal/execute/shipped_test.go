package execute_test

import (
	"bytes"
	"net/http"
	"os"
	"slices"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/simtest"
	"github.com/talosgen/talosgen/schemas"
)

// shipped is the infrastructure of the environment prod of this repository.
func shipped(t testing.TB) schemas.Infrastructure {
	t.Helper()
	text, err := os.ReadFile("../../../rendered/prod/infrastructure.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var infra schemas.Infrastructure
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&infra); err != nil {
		t.Fatal(err)
	}
	return infra
}

// supply makes what an environment expects in its project.
func (p *project) supply(infra schemas.Infrastructure) {
	for _, image := range infra.Images {
		p.sim.AddSnapshot("Talos", image.Architecture, 10, image.Labels)
	}
	for _, record := range infra.DNSRecords {
		p.sim.AddZone(record.Zone)
	}
	for _, s := range infra.Servers {
		for _, key := range s.SSHKeys {
			p.sim.AddSSHKey(key, "")
		}
	}
}

// fewer is a cluster without the last of its workers.
func fewer(infra schemas.Infrastructure, servers int) schemas.Infrastructure {
	infra.Servers = slices.Clone(infra.Servers)
	for range servers {
		i := len(infra.Servers) - 1
		for infra.Servers[i].Role != schemas.RoleWorker {
			i--
		}
		infra.Servers = slices.Delete(infra.Servers, i, i+1)
	}
	return infra
}

// TestShippedOverHTTP: the shipped prod is made through a real connection, each
// request and answer compared with the API's description: what
// infrastructure.yaml names, and nothing else. The second time nothing is
// written. When it is gone, the project is as it was.
func TestShippedOverHTTP(t *testing.T) {
	p, infra := newProject(t, hetznersim.Options{}), shipped(t)
	p.supply(infra)
	before := p.fingerprint()
	served := *p
	served.http, served.url = http.DefaultTransport, simtest.Serve(t, p.sim)
	served.run(infra, plan.Consent{}).mustApply()
	for what, want := range names(infra) {
		var got []string
		for _, o := range p.list(what) {
			got = append(got, o["name"].(string))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	p.sim.ResetCalls()
	served.run(infra, plan.Consent{}).mustApply()
	p.onlyReads(2) // the lock, which the command does not even take
	r := served.run(infra, plan.Consent{Unprotect: infra.Cluster})
	r.destroy = true
	r.mustApply()
	if got := p.fingerprint(); got != before {
		t.Errorf("the project is not as it was:\n%s", differences(got, before))
	}
}

// names are those of everything that an infrastructure.yaml asks for, list by
// list. A server without public addresses has no primary IP.
func names(infra schemas.Infrastructure) map[string][]string {
	all := map[string][]string{
		"networks": {infra.Network.Name}, "servers": nil, "firewalls": nil, "load_balancers": nil, "placement_groups": nil,
		"floating_ips": nil, "volumes": nil, "certificates": nil,
	}
	for _, s := range infra.Servers {
		all["servers"] = append(all["servers"], s.Name)
	}
	for _, f := range infra.Firewalls {
		all["firewalls"] = append(all["firewalls"], f.Name)
	}
	for _, b := range infra.LoadBalancers {
		all["load_balancers"] = append(all["load_balancers"], b.Name)
	}
	for _, g := range infra.PlacementGroups {
		all["placement_groups"] = append(all["placement_groups"], g.Name)
	}
	for _, f := range infra.FloatingIPs {
		all["floating_ips"] = append(all["floating_ips"], f.Name)
	}
	return all
}

// TestShippedCrashAnywhere is [TestCrashAnywhere] with the shipped prod.
func TestShippedCrashAnywhere(t *testing.T) {
	prod := shipped(t)
	less := fewer(prod, 2)
	everyCall(t, []scenario{
		{name: "create", to: &prod},
		{name: "scale up", from: &less, to: &prod},
		{name: "scale down", from: &prod, to: &less},
		{name: "destroy", from: &prod},
	}, crash)
}
