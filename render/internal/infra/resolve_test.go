package infra

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

var update = flag.Bool("update", false, "write golden files")

// production is a cluster with a bit of everything.
func production() Input {
	return Input{
		Cluster: "prod", Location: "fsn1", NetworkZone: "eu-central", SSHKeys: []string{"my-key"}, DeleteProtection: true,
		Ranges: Ranges{Network: p("10.0.0.0/16")}, PublicIPv4: true, PublicIPv6: true, LinkDocuments: true,
		Firewall: Firewall{
			KubernetesSources: []netip.Prefix{p("203.0.113.0/24")}, TalosSources: []netip.Prefix{p("203.0.113.7/32")},
			KubeSpan: true, CiliumWireGuard: true,
			Extra: []schemas.InfraRule{{Description: "ping", Direction: "in", Protocol: "icmp", SourceIPs: anywhere}},
		},
		FloatingIP: true, API: APIBalancer{Enabled: true, Type: "lb11"}, Autoscaled: true,
		Ingress: []IngressPool{{Name: "web", Count: 2, Type: "lb11", Algorithm: "least_connections", Public: true, ProxyProtocol: true, Pools: []string{"worker"}}},
		Pools: []Pool{
			{Name: "control-plane", Role: "controlplane", Types: []string{"cpx32"}, Locations: []string{"fsn1", "nbg1"}, Nodes: nodes("control-plane", 1, 2, 3)},
			{Name: "worker", Role: "worker", Types: []string{"cpx32", "cpx42"}, Locations: []string{"fsn1"}, PlacementGroup: true, Nodes: nodes("worker", 1, 3, 11)},
			{Name: "arm", Role: "worker", Types: []string{"cax21"}, Locations: []string{"hel1"}, Offset: 20, Nodes: nodes("arm", 1), RDNS: schemas.InfraReverseDNS{IPv4: "arm.example.com"}},
			{Name: "db", Role: "worker", Types: []string{"ccx23"}, Locations: []string{"fsn1"}, Subnet: p("10.0.65.0/25"), Backups: true, KeepDisk: true, Nodes: nodes("db", 1)},
		},
		Image: Image{TalosVersion: "v1.14.1", Schematic: "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"},
		RDNS:  schemas.InfraReverseDNS{IPv4: "{{ hostname }}.example.com"},
	}
}

func nodes(pool string, indexes ...int) []Node {
	var all []Node
	for _, i := range indexes {
		all = append(all, Node{Name: fmt.Sprintf("prod-%s-%d", pool, i), Index: i})
	}
	return all
}

func TestResolveGolden(t *testing.T) {
	out, err := Resolve(production())
	if err != nil {
		t.Fatal(err)
	}
	got, err := yaml.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/production.yaml"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("not the golden file; run go test -update and look at the difference\n%s", got)
	}
}

func TestPrivateNodesGetARoute(t *testing.T) {
	in := production()
	in.PublicIPv4, in.PublicIPv6 = false, false
	out, err := Resolve(in)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Firewalls) != 0 {
		t.Error("a firewall filters nothing where there are no public addresses")
	}
	for _, s := range out.Servers {
		if !strings.Contains(s.UserData, "gateway: 10.0.0.1\n") || s.PublicIPv4 || s.PublicIPv6 {
			t.Errorf("%s: user data %q", s.Name, s.UserData)
		}
	}
}

func TestExistingNetworkIsNotOurs(t *testing.T) {
	in := production()
	in.ExistingNetwork = 4711
	out, err := Resolve(in)
	if err != nil {
		t.Fatal(err)
	}
	if n := out.Network; n.ExistingID != 4711 || n.Labels != nil || n.Protected {
		t.Errorf("got %+v", n)
	}
}

func TestAddressesDoNotMove(t *testing.T) {
	in := production()
	before := addresses(t, in)
	in.Pools[1].Nodes = nodes("worker", 3, 11, 12) // one in the middle goes, one comes
	in.Pools = append(in.Pools[:2:2], in.Pools[3:]...)
	for name, address := range addresses(t, in) {
		if was, existed := before[name]; existed && was != address {
			t.Errorf("%s moved from %s to %s", name, was, address)
		}
	}
}

func addresses(t *testing.T, in Input) map[string]string {
	t.Helper()
	out, err := Resolve(in)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, s := range out.Servers {
		all[s.Name] = s.PrivateIP + " " + s.PlacementGroup
	}
	return all
}

func TestProblems(t *testing.T) {
	at := diag.Pos{File: "envs/prod/cluster.yaml", Line: 7, Column: 3}
	for _, tt := range []struct {
		name   string
		change func(*Input)
		want   string
	}{
		{"offsets that overlap", func(in *Input) { in.Pools[2].Offset, in.Pools[2].Pos = 0, at },
			"envs/prod/cluster.yaml:7:3: the nodes prod-worker-1 and prod-arm-1 have the same address 10.0.80.2"},
		{"no room in the subnet", func(in *Input) { in.Pools[1].Nodes, in.Pools[1].Pos = nodes("worker", 200), at },
			"envs/prod/cluster.yaml:7:3: node prod-worker-200: the subnet 10.0.80.0/25 has no address for offset 0 and index 200"},
		{"two architectures in a pool", func(in *Input) { in.Pools[1].Types, in.Pools[1].Pos = []string{"cpx32", "cax21"}, at },
			"envs/prod/cluster.yaml:7:3: pool worker: cpx32 and cax21 have different architectures"},
		{"a restriction that restricts nothing", func(in *Input) { in.API.Public, in.API.Pos = true, at },
			"envs/prod/cluster.yaml:7:3: the sources of the Kubernetes API are restricted, but its load balancer is open to everyone"},
		{"more servers than a network takes", func(in *Input) {
			in.Pools = nil
			for i := range 3 {
				var indexes []int
				for n := range 40 {
					indexes = append(indexes, n+1)
				}
				in.Pools = append(in.Pools, Pool{Name: fmt.Sprint("p", i), Role: "worker", Offset: 40 * i, Types: []string{"cpx32"}, Nodes: nodes(fmt.Sprint("p", i), indexes...)})
			}
		}, "infrastructure: 120 servers in one network; Hetzner allows 100"},
		{"private nodes on an old Talos", func(in *Input) { in.PublicIPv4, in.PublicIPv6, in.LinkDocuments = false, false, false },
			"nodes without public addresses need the documents of Talos 1.12"},
		{"ranges that do not fit", func(in *Input) { in.Ranges.Nodes = p("10.0.64.0/24") }, "do not fit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := production()
			tt.change(&in)
			_, err := Resolve(in)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestAcknowledgedBalancer(t *testing.T) {
	in := production()
	in.API.Public, in.API.AcknowledgeOpen = true, true
	if _, err := Resolve(in); err != nil {
		t.Error(err)
	}
	in.API.AcknowledgeOpen = false
	in.Firewall.KubernetesSources = []netip.Prefix{p("0.0.0.0/0")}
	if _, err := Resolve(in); err != nil {
		t.Error(err)
	}
}

func TestArchitecture(t *testing.T) {
	for serverType, want := range map[string]string{"cax11": "arm", "cax41": "arm", "cx23": "x86", "cpx21": "x86", "ccx63": "x86", "cax": "x86", "caxy": "x86"} {
		if got := architecture(serverType); got != want {
			t.Errorf("%s is %s, want %s", serverType, got, want)
		}
	}
}

func TestShardsHoldTen(t *testing.T) {
	members := map[int]int{}
	for i := range 95 {
		members[shard(i+1)]++
	}
	for n, count := range members {
		if count > maxGroupMembers {
			t.Errorf("shard %d has %d servers", n, count)
		}
	}
	if len(members) != 10 {
		t.Errorf("%d shards for 95 servers", len(members))
	}
}
