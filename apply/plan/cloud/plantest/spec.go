package plantest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/schemas"
)

// Spec is what a cluster is like, in a few words. [Spec.Infrastructure] spells
// it out.
type Spec struct {
	Cluster       string
	ControlPlanes int
	Pools         []Pool
	Private       bool // no public addresses but the NAT gateway's
	Standby       bool // and there are two of these
	API           bool // a load balancer for the Kubernetes API
	Ingress       int  // load balancers of ingress
	FloatingIP    bool
	DNS           bool // a record for the API
	Protected     bool
	ReverseDNS    bool
	Rules         int  // rules of the firewall besides those of the APIs
	NodesOnly     bool // the firewall is not for the NAT gateway
	Dedicated     int  // dedicated servers behind a vSwitch, which ingress leads to
}

// VSwitches are those of the owner. A network of Hetzner Cloud is coupled with one, and one
// with a single network.
var VSwitches = []int64{4711, 4712, 4713, 4714}

// vSwitch is the one that dedicated servers of the cluster are in.
func (s Spec) vSwitch() int64 { return VSwitches[len(s.Cluster)/4%len(VSwitches)] }

// Pool is a pool of workers.
type Pool struct {
	Name    string
	Offset  int // of addresses
	Count   int
	Size    int // index of the server type: see sizes
	Groups  bool
	Backups bool
	Volume  int // GB of a volume of each server; 0: it has none
}

// sizes are server types, each with one to fall back to.
var sizes = [][]string{{"cpx11", "cpx21"}, {"cpx21", "cpx31"}, {"cpx31", "cpx41"}, {"cpx41"}}

// Random returns a random spec, of up to fifteen servers or so.
func Random(r *rand.Rand, cluster string) Spec {
	s := Spec{Cluster: cluster, ControlPlanes: 1 + 2*r.IntN(2)}
	for i := range r.IntN(3) {
		p := Pool{Name: fmt.Sprintf("pool%d", i), Offset: 20 * i, Count: 1 + r.IntN(6), Size: r.IntN(3), Groups: coin(r), Backups: coin(r)}
		p.Volume = 10 * (p.Count % 3)
		s.Pools = append(s.Pools, p)
	}
	s.Private, s.API, s.Ingress, s.FloatingIP = coin(r), coin(r), r.IntN(2), coin(r)
	s.DNS, s.Protected, s.ReverseDNS, s.Rules, s.NodesOnly = coin(r), coin(r), coin(r), r.IntN(3), coin(r)
	s.Standby, s.Dedicated = s.Protected != s.ReverseDNS, s.Rules
	return s
}

func coin(r *rand.Rand) bool { return r.IntN(2) == 0 }

// Change returns a spec that differs in something that apply can do, if
// everything is allowed.
func (s Spec) Change(r *rand.Rand) Spec {
	s.Pools = slices.Clone(s.Pools)
	switch r.IntN(11) {
	case 0, 1, 2:
		if len(s.Pools) > 0 {
			p := &s.Pools[r.IntN(len(s.Pools))]
			p.Count = r.IntN(14)
		}
	case 3:
		if len(s.Pools) > 0 {
			p := &s.Pools[r.IntN(len(s.Pools))]
			p.Size = min(p.Size+1, len(sizes)-1)
		}
	case 4:
		if len(s.Pools) > 0 {
			p := &s.Pools[r.IntN(len(s.Pools))]
			p.Groups, p.Backups = coin(r), coin(r)
			p.Volume = min(p.Volume+10, 40) // none shrinks, for Hetzner would not
		}
	case 5:
		s.API, s.Ingress = coin(r), r.IntN(3)
	case 6:
		s.FloatingIP, s.DNS = coin(r), coin(r)
	case 7:
		s.Protected, s.ReverseDNS = coin(r), coin(r)
		s.Standby = s.Protected != s.ReverseDNS
	case 8:
		s.Rules, s.NodesOnly = r.IntN(4), coin(r)
		s.Dedicated = s.Rules
	case 9:
		s.ControlPlanes = 4 - s.ControlPlanes
	case 10:
		s.Private = !s.Private
	}
	return s
}

// Infrastructure is the desired state of the spec.
func (s Spec) Infrastructure() schemas.Infrastructure {
	out := schemas.Infrastructure{
		APIVersion: schemas.InfrastructureVersion, Cluster: s.Cluster, Provider: schemas.Hetzner,
		Network: s.network(), Firewalls: s.firewalls(),
		Images: []schemas.InfraSnapshot{{
			Architecture: "x86", Selector: talos, Build: true, URL: "https://factory.example.com/hcloud-amd64.raw.xz",
			Labels: ImageLabels(), BuilderType: "cpx11", BuilderLocation: "nbg1",
		}},
	}
	s.pool(&out, Pool{Name: "control-plane", Count: s.ControlPlanes, Size: 1, Groups: true}, schemas.RoleControlPlane, "10.0.64.%d")
	for _, p := range s.Pools {
		s.pool(&out, p, schemas.RoleWorker, "10.0.80.%d")
	}
	if s.Private {
		out.Servers = append(out.Servers, s.gateway("nat", "nbg1", gatewayIP))
		if s.Standby {
			out.Servers = append(out.Servers, s.gateway("nat-2", "fsn1", standbyIP))
		}
	}
	s.balancers(&out)
	if s.FloatingIP {
		out.FloatingIPs = append(out.FloatingIPs, schemas.InfraFloatingIP{
			Name: s.name("kube-api"), Type: "ipv4", Location: "fsn1", Description: "Kubernetes API", Labels: s.labels("component", "kube-api"),
			Protected: s.Protected, ReverseDNS: s.names(),
		})
	}
	s.records(&out)
	return out
}

// talos selects the image of nodes.
var talos = "os=talos,talos_version=" + versions.Newest().Talos

// ImageLabels are the labels of that image.
func ImageLabels() map[string]string {
	return map[string]string{"os": "talos", "talos_version": versions.Newest().Talos}
}

func (s Spec) name(parts ...string) string {
	name := s.Cluster
	for _, p := range parts {
		name += "-" + p
	}
	return name
}

func (s Spec) labels(pairs ...string) map[string]string {
	l := map[string]string{schemas.LabelCluster: s.Cluster, schemas.LabelManagedBy: schemas.ManagedBy}
	for i := 0; i < len(pairs); i += 2 {
		l[pairs[i]] = pairs[i+1]
	}
	return l
}

func (s Spec) names() schemas.InfraReverseDNS {
	if !s.ReverseDNS {
		return schemas.InfraReverseDNS{}
	}
	return schemas.InfraReverseDNS{IPv4: "h-{{ ip-labels }}.example.com", IPv6: "h{{ id }}.example.com"}
}

func (s Spec) network() *schemas.InfraNetwork {
	n := &schemas.InfraNetwork{Name: s.Cluster, IPRange: "10.0.0.0/16", Labels: s.labels(), Protected: s.Protected}
	for _, subnet := range []struct{ purpose, ipRange string }{
		{"control-plane", "10.0.64.0/25"}, {"load-balancers", "10.0.64.128/25"}, {"workers", "10.0.80.0/25"},
	} {
		n.Subnets = append(n.Subnets, schemas.InfraSubnet{Purpose: subnet.purpose, Type: "cloud", IPRange: subnet.ipRange, NetworkZone: "eu-central"})
	}
	if s.Dedicated > 0 {
		n.Subnets = append(n.Subnets, schemas.InfraSubnet{Purpose: "bare-metal", Type: "vswitch", IPRange: "10.0.88.0/25", NetworkZone: "eu-central", VSwitchID: s.vSwitch()})
	}
	if s.Private {
		n.Routes = []schemas.InfraRoute{{Destination: "0.0.0.0/0", Gateway: gatewayIP}}
		if s.Standby {
			n.Routes[0].Standby = standbyIP
		}
	}
	return n
}

func (s Spec) firewalls() []schemas.InfraFirewall {
	f := schemas.InfraFirewall{Name: s.Cluster, Labels: s.labels("component", "nodes"), ApplyTo: "cluster=" + s.Cluster}
	if s.NodesOnly {
		f.ApplyTo += ",role in (controlplane,worker)"
	}
	for i := range s.Rules + 1 {
		f.Rules = append(f.Rules, schemas.InfraRule{
			Description: fmt.Sprintf("rule %d", i), Direction: "in", Protocol: "tcp", Port: fmt.Sprint(6443 + i), SourceIPs: []string{"0.0.0.0/0", "::/0"},
		})
	}
	return []schemas.InfraFirewall{f}
}

// pool adds the servers of a pool, and their placement groups of ten.
func (s Spec) pool(out *schemas.Infrastructure, p Pool, role, address string) {
	for i := 1; i <= p.Count; i++ {
		labels := s.labels("role", role, "nodepool", p.Name)
		group := ""
		if p.Groups {
			group = s.name(p.Name, "pg", fmt.Sprint((i-1)/10+1))
			if !slices.ContainsFunc(out.PlacementGroups, func(g schemas.InfraPlacementGroup) bool { return g.Name == group }) {
				out.PlacementGroups = append(out.PlacementGroups, schemas.InfraPlacementGroup{Name: group, Labels: labels})
			}
		}
		var volumes []schemas.InfraVolume
		if p.Volume > 0 {
			volumes = append(volumes, schemas.InfraVolume{Name: s.name(p.Name, fmt.Sprint(i), "data"), Size: p.Volume})
		}
		out.Servers = append(out.Servers, schemas.InfraServer{
			Name: s.name(p.Name, fmt.Sprint(i)), Role: role, Pool: p.Name, Index: i,
			Types: sizes[p.Size], Locations: []string{"nbg1", "fsn1"}, Image: schemas.InfraImage{Selector: talos, Architecture: "x86"},
			PrivateIP: fmt.Sprintf(address, p.Offset+i+1), PublicIPv4: !s.Private, PublicIPv6: !s.Private,
			PlacementGroup: group, SSHKeys: []string{SSHKey}, Labels: labels, Protected: s.Protected, Backups: p.Backups,
			ReverseDNS: s.names(), Volumes: volumes,
		})
	}
}

// Addresses of the NAT gateways, behind those of the control planes.
const (
	gatewayIP = "10.0.64.100"
	standbyIP = "10.0.64.101"
)

// gateway is a NAT gateway.
func (s Spec) gateway(name, location, address string) schemas.InfraServer {
	return schemas.InfraServer{
		Name: s.name(name), Role: schemas.RoleNATGateway, Types: []string{"cpx11"}, Locations: []string{location},
		Image: schemas.InfraImage{Name: Debian, Architecture: "x86"}, PrivateIP: address, PublicIPv4: true, PublicIPv6: true,
		SSHKeys: []string{SSHKey}, Labels: s.labels("role", schemas.RoleNATGateway), Protected: s.Protected,
		UserData: "#cloud-config\n", HostKey: "ssh-ed25519 AAAA",
	}
}

func (s Spec) balancers(out *schemas.Infrastructure) {
	if s.API {
		out.LoadBalancers = append(out.LoadBalancers, schemas.InfraLoadBalancer{
			Name: s.name("kube-api"), Type: "lb11", Location: "fsn1", Algorithm: "round_robin", Labels: s.labels("component", "kube-api"),
			Protected: s.Protected, PrivateIP: "10.0.64.254", PublicInterface: true, ReverseDNS: s.names(),
			Services: []schemas.InfraService{{Protocol: "tcp", ListenPort: 6443, DestinationPort: 6443, HealthCheck: schemas.InfraHealthCheck{
				Protocol: "http", Port: 6443, Interval: 3, Timeout: 2, Retries: 2, Path: "/version", Response: "Status", TLS: true, StatusCodes: []string{"401"},
			}}},
			Targets: []string{"cluster=" + s.Cluster + ",role=controlplane"},
		})
	}
	for i := range s.Ingress {
		b := schemas.InfraLoadBalancer{
			Name: s.name("ingress", fmt.Sprint(i+1)), Type: "lb11", Location: "fsn1", Algorithm: "least_connections", Labels: s.labels("component", "ingress"),
			Protected: s.Protected, PrivateIP: fmt.Sprintf("10.0.64.%d", 250-i), PublicInterface: !s.NodesOnly,
			Targets: []string{"cluster=" + s.Cluster + ",role=worker"},
		}
		for n := range s.Dedicated {
			b.IPTargets = append(b.IPTargets, fmt.Sprintf("10.0.88.%d", n+2))
		}
		for _, port := range []int{80, 443} {
			b.Services = append(b.Services, schemas.InfraService{Protocol: "tcp", ListenPort: port, DestinationPort: 30000 + port, ProxyProtocol: true,
				HealthCheck: schemas.InfraHealthCheck{Protocol: "tcp", Port: 30000 + port, Interval: 3, Timeout: 3, Retries: 3}})
		}
		out.LoadBalancers = append(out.LoadBalancers, b)
	}
}

func (s Spec) records(out *schemas.Infrastructure) {
	if !s.DNS {
		return
	}
	target := schemas.InfraTarget{Kind: schemas.TargetServer, Name: s.name("control-plane", "1")}
	switch {
	case s.API:
		target = schemas.InfraTarget{Kind: schemas.TargetLoadBalancer, Name: s.name("kube-api")}
	case s.FloatingIP:
		target = schemas.InfraTarget{Kind: schemas.TargetFloatingIP, Name: s.name("kube-api")}
	}
	out.DNSRecords = append(out.DNSRecords, schemas.InfraDNSRecord{Zone: Zone, Name: "api." + s.Cluster, Type: "A", TTL: 300, Targets: []schemas.InfraTarget{target}})
}
