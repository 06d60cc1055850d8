package graph

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// everything is an environment with one of each, and with names as long as they
// may be.
func everything() Input {
	infra := schemas.Infrastructure{
		Cluster: "blue", Provider: schemas.Hetzner,
		KubernetesAPI: schemas.InfraAPI{
			Endpoint: "https://10.0.64.126:6443", VirtualIP: "10.0.64.126",
			External: []schemas.InfraTarget{{Kind: schemas.TargetFloatingIP, Name: "blue-kube-api"}},
		},
		Access: schemas.InfraAccess{Mode: "public", Jump: "blue-nat-gateway", JumpStandby: "blue-nat-gateway-2", CurrentIPv4: true},
		Network: &schemas.InfraNetwork{
			Name: "blue", IPRange: "10.0.0.0/16",
			Subnets: []schemas.InfraSubnet{
				{Purpose: "control-plane", IPRange: "10.0.64.0/25"}, {Purpose: "load-balancers", IPRange: "10.0.64.128/25"},
				{Purpose: "workers", IPRange: "10.0.80.0/24"}, {Purpose: "autoscaler", IPRange: "10.0.81.0/24"},
				{Purpose: "bare-metal", IPRange: "10.0.90.0/24", Type: "vswitch"},
			},
			Routes: []schemas.InfraRoute{{Destination: "0.0.0.0/0", Gateway: "10.0.64.253", Standby: "10.0.64.252"}},
		},
		Firewalls: []schemas.InfraFirewall{
			{Name: "blue-nodes", ApplyTo: "cluster=blue,role in (controlplane,worker)", Rules: rules(6)},
			{ExistingID: 4711, ApplyTo: "role=nat-gateway"},
		},
		LoadBalancers: []schemas.InfraLoadBalancer{
			{Name: "blue-ingress", Type: "lb11", Location: "nbg1", PrivateIP: "10.0.64.252", PublicInterface: true, Targets: []string{"nodepool=app", "nodepool=burst"},
				Services: []schemas.InfraService{{Protocol: "tcp", ListenPort: 80}, {Protocol: "tcp", ListenPort: 443}}},
		},
		FloatingIPs: []schemas.InfraFloatingIP{{Name: "blue-kube-api", Type: "ipv4", Location: "fsn1"}, {ExistingID: 12, Type: "ipv6"}},
		DNSRecords: []schemas.InfraDNSRecord{
			{Zone: "example.com", Name: "api", Type: "A", Targets: []schemas.InfraTarget{{Kind: schemas.TargetFloatingIP, Name: "blue-kube-api"}}},
			{Zone: "example.com", Name: "@", Type: "AAAA", Values: []string{"2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4", "2001:db8::5"}},
		},
		AutoscalerPools: []schemas.InfraAutoscalerPool{{
			Name: "burst", Group: "blue-burst", Max: 9, Type: "cax21", Location: "hel1", IPRange: "10.0.81.0/24",
			Labels: map[string]string{"nodepool": "burst"},
		}},
	}
	add := func(role, pool, subnet string, n int, public bool) {
		for i := 1; i <= n; i++ {
			infra.Servers = append(infra.Servers, schemas.InfraServer{
				Name: fmt.Sprintf("blue-%s-%d", pool, i), Role: role, Pool: pool, Index: i, PrivateIP: fmt.Sprintf("%s.%d", subnet, i+1),
				Types: []string{"cpx32", "cpx31"}, Locations: []string{"fsn1", "nbg1", "hel1"}, PublicIPv4: public,
				Labels: map[string]string{"cluster": "blue", "role": role, "nodepool": pool},
			})
		}
	}
	add(schemas.RoleControlPlane, "control-plane", "10.0.64", 3, true)
	add(schemas.RoleWorker, "app", "10.0.80", 100, false)
	add(schemas.RoleWorker, strings.Repeat("long-", 6)+"x", "192.168.0", 2, false)
	infra.Servers = append(infra.Servers, schemas.InfraServer{
		Name: "blue-nat-gateway", Role: schemas.RoleNATGateway, Types: []string{"cpx22"}, Locations: []string{"fsn1"},
		PrivateIP: "10.0.64.253", PublicIPv4: true, Labels: map[string]string{"role": schemas.RoleNATGateway},
	}, schemas.InfraServer{
		Name: "blue-nat-gateway-2", Role: schemas.RoleNATGateway, Types: []string{"cpx22"}, Locations: []string{"hel1"},
		PrivateIP: "10.0.64.252", PublicIPv4: true, Labels: map[string]string{"role": schemas.RoleNATGateway},
	})
	for i := range infra.Servers {
		if s := &infra.Servers[i]; s.Pool == "app" {
			s.Volumes = []schemas.InfraVolume{{Name: s.Name + "-data", Size: 50}, {Name: s.Name + "-scratch", Size: 10}}
		}
	}
	return Input{Environment: "production", Dir: "rendered/production", Infrastructure: infra, Talos: "v1.14.1", Kubernetes: "1.37.0", Files: addons()}
}

func rules(n int) (all []schemas.InfraRule) {
	for i := range n {
		all = append(all, schemas.InfraRule{
			Description: "Kubernetes API <&> \"friends\"", Direction: []string{"in", "out"}[i%2], Protocol: "tcp", Port: fmt.Sprint(6443 + i),
			SourceIPs: [][]string{{"203.0.113.0/24"}, nil, {"0.0.0.0/0", "::/0"}, nil, {"192.0.2.1/32", "192.0.2.2/32"}, nil}[i%6],
		})
	}
	return all
}

func addons() map[string][]byte {
	object := func(kind, name, spec string) string {
		return "apiVersion: " + map[string]string{"Kustomization": "kustomize.toolkit.fluxcd.io/v1", "GitRepository": "source.toolkit.fluxcd.io/v1"}[kind] +
			"\nkind: " + kind + "\nmetadata: {name: " + name + "}\nspec: " + spec + "\n---\n"
	}
	const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
	return map[string][]byte{
		"infrastructure.yaml":                       []byte("no: object"),
		"nodes/a.yaml":                              []byte("no: object"),
		"bootstrap/hcloud-ccm/manifests.yaml":       []byte(configMap),
		"addons/crds/namespaces.yaml":               []byte(configMap),
		"addons/crds/kustomization.yaml":            []byte("resources: []"),
		"addons/apps/shop/manifests.yaml":           []byte(configMap),
		"addons/apps/shop/kustomization.yaml":       []byte("resources: []"),
		"addons/controllers/csi/manifests.yaml":     []byte(configMap),
		"addons/controllers/csi/more/deep.yaml":     []byte(configMap),
		"addons/controllers/metrics/manifests.yaml": []byte(configMap),
		"addons/controllers/backup/manifests.yaml":  []byte(configMap),
		"addons/controllers/proxy/manifests.yaml":   []byte(configMap),
		"flux/kustomization.yaml":                   []byte("resources: []"),
		"flux/manifests.yaml": []byte(object("GitRepository", "talosgen", "{url: ssh://git@github.com/example/clusters.git, ref: {branch: main}}") +
			object("Kustomization", "talosgen", "{path: ./rendered/production/flux}") +
			object("Kustomization", "talosgen-apps", "{path: ./rendered/production/addons/apps, dependsOn: [{name: talosgen-crds}, {name: talosgen-controllers}]}") +
			object("Kustomization", "talosgen-controllers", "{path: ./rendered/production/addons/controllers, dependsOn: [{name: talosgen-crds}]}") +
			object("Kustomization", "talosgen-crds", "{path: ./rendered/production/addons/crds}")),
	}
}

// static is an environment of machines that exist already.
func static() Input {
	infra := schemas.Infrastructure{
		Cluster: "home", Provider: schemas.Static,
		KubernetesAPI: schemas.InfraAPI{Endpoint: "https://192.168.1.10:6443", VirtualIP: "192.168.1.10", ExternalEndpoint: "https://192.168.1.10:6443"},
		Access:        schemas.InfraAccess{Mode: "direct"},
	}
	for i, name := range []string{"home-1", "home-2", "home-3", "nas"} {
		m := schemas.InfraMachine{Name: name, Role: schemas.RoleControlPlane, Pool: "control-plane", Address: fmt.Sprintf("192.168.1.%d/24", 11+i), InstallDisk: "/dev/sda"}
		if name == "nas" {
			m.Role, m.Pool = schemas.RoleWorker, "storage"
		}
		infra.Machines = append(infra.Machines, m)
	}
	return Input{Environment: "home", Dir: "rendered/home", Infrastructure: infra}
}

// random is a picture with as much, and as little, as comes.
func random(r *rand.Rand) *Picture {
	words := func(most int) string {
		var all []string
		for range r.IntN(most + 1) {
			all = append(all, strings.Repeat([]string{"w", "i", "prod", "10.0.0.0/16", "<&>\"'", "äöü"}[r.IntN(6)], 1+r.IntN(9)))
		}
		return strings.Join(all, " ")
	}
	kinds := []Kind{People, Firewall, LoadBalancer, ControlPlane, Worker, Autoscaler, Addon}
	p := &Picture{Title: words(2), Subtitle: words(20)}
	var cards, rows []string
	for range r.IntN(4) {
		g := Group{Title: words(3), Subtitle: words(5)}
		for range r.IntN(5) {
			row := Row{ID: fmt.Sprintf("row %d", len(rows)), Title: words(3), Subtitle: words(3)}
			rows = append(rows, row.ID)
			for range r.IntN(8) {
				c := Card{ID: fmt.Sprintf("card %d", len(cards)), Kind: kinds[r.IntN(len(kinds))], Title: words(4)}
				cards = append(cards, c.ID)
				for range r.IntN(6) {
					c.Lines = append(c.Lines, Line{words(4), words(3)})
				}
				row.Cards = append(row.Cards, c)
			}
			g.Rows = append(g.Rows, row)
		}
		p.Groups = append(p.Groups, g)
	}
	for range r.IntN(12) {
		if len(cards) > 1 {
			i := r.IntN(len(cards))
			p.Arrows = append(p.Arrows, Arrow{cards[i], cards[(i+1+r.IntN(len(cards)-1))%len(cards)]})
		}
		if len(rows) > 1 {
			p.Arrows = append(p.Arrows, Arrow{rows[r.IntN(len(rows))], rows[r.IntN(len(rows))]})
		}
	}
	return p
}
