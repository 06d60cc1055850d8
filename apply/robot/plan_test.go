package robot

import (
	"strings"
	"testing"
)

// TestPlan: what is refused, and what is not.
func TestPlan(t *testing.T) {
	server := Server{Number: number, Name: "home-1", Product: "AX41-NVMe", DC: "FSN1-DC10", IP: "203.0.113.10", IPv6Net: "2001:db8:1::", IPs: []string{"203.0.113.10"}}
	for _, tt := range []struct {
		name   string
		change func(*Target, *Observed)
		want   string // of the refusal; empty: none
		todo   int
	}{
		{"as it is", func(*Target, *Observed) {}, "", 1},
		{"in the network", func(g *Target, _ *Observed) { g.Addresses = []string{"2001:db8:1::2"} }, "", 1},
		{"in another network", func(g *Target, _ *Observed) { g.Addresses = []string{"2001:db8:2::2", "10.0.0.1/24"} }, "server 321 at Robot has the address 203.0.113.10, and cluster.yaml has 2001:db8:2::2, 10.0.0.1/24", 0},
		{"a subnet", func(g *Target, o *Observed) {
			g.Addresses, o.Server.Subnets = []string{"198.51.100.9"}, []Subnet{{"198.51.100.8", "29"}}
		}, "", 1},
		{"no address", func(g *Target, _ *Observed) { g.Addresses = nil }, "server 321 at Robot has the address", 0},
		{"waits", func(g *Target, _ *Observed) { g.Waits = true }, "", 0},
		{"a node", func(g *Target, _ *Observed) { g.Refusal = "it is a node" }, "it is a node", 0},
		{"cancelled", func(_ *Target, o *Observed) { o.Server.Cancelled = true }, "server 321 is cancelled at Robot", 0},
		{"not ready", func(_ *Target, o *Observed) { o.Server.Status = "in process" }, "Hetzner still prepares server 321", 0},
		{"rescue of others", func(_ *Target, o *Observed) { o.Rescue = Rescue{Active: true, Authorized: []SSHKey{{Name: "admin"}}} }, "the rescue system of server 321 is active, and was not activated by talosgen", 0},
		{"rescue without keys", func(_ *Target, o *Observed) { o.Rescue = Rescue{Active: true} }, "and was not activated by talosgen", 0},
		{"rescue of a killed run", func(_ *Target, o *Observed) {
			o.Rescue = Rescue{Active: true, Authorized: []SSHKey{{Name: "talosgen-install-321"}}}
		}, "", 1},
	} {
		w := newWorld(t)
		target, observed := w.target(), Observed{Server: server}
		tt.change(&target, &observed)
		p := Make("home", []Target{target}, []Observed{observed})
		text := ""
		if len(p.Refusals) > 0 {
			text = p.Refusals[0].Text
		}
		if (text != "") != (tt.want != "") || !strings.Contains(text, tt.want) || len(p.Todo()) != tt.todo {
			t.Errorf("%s: refused %q, %d to do", tt.name, text, len(p.Todo()))
		}
	}
}

// TestImageOf: which Talos an installer is of.
func TestImageOf(t *testing.T) {
	for installer, want := range map[string]string{
		"factory.talos.dev/metal-installer/abc:v1.14.1":            "https://factory.talos.dev/image/abc/v1.14.1/metal-amd64.raw.xz",
		"factory.talos.dev/metal-installer-secureboot/abc:v1.14.1": "https://factory.talos.dev/image/abc/v1.14.1/metal-amd64-secureboot.raw.xz",
		"factory.talos.dev/installer/abc:v1.9.0":                   "https://factory.talos.dev/image/abc/v1.9.0/metal-amd64.raw.xz",
		"factory.example.com:5000/metal-installer/abc:v1.14.1":     "https://factory.example.com:5000/image/abc/v1.14.1/metal-amd64.raw.xz",
		"ghcr.io/siderolabs/installer:v1.14.1":                     "is not one of an Image Factory",
		"factory.talos.dev/metal-installer/abc":                    "is not one of an Image Factory",
		"":                                                         "is not one of an Image Factory",
	} {
		i, err := ImageOf(installer)
		got := i.source(nil, "amd64").URL
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", installer, got, want)
		}
	}
}
