package catalogue_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/catalogue/cataloguetest"
	"github.com/talosgen/talosgen/schemas"
)

// way is one way in: what serves it, where, and how traffic reaches it.
type way struct {
	provider, controller, service, pools string
	nginx, proxyDefault                  bool
}

// ways are all that there can be.
func ways() (all []way) {
	for _, provider := range []string{schemas.Hetzner, schemas.Static} {
		for _, controller := range []string{schemas.None, schemas.CiliumGateway, schemas.EnvoyGateway, schemas.TraefikGateway} {
			for _, service := range []string{"", schemas.LoadBalancerService, schemas.NodePortService} {
				for _, pools := range []string{"", "[{name: edge}]", "[{name: edge, ports: [{listen: 80, node: 31080}, {listen: 443, node: 31443}]}, {name: other, ports: [{listen: 80, node: 31080}]}]"} {
					for i := range 4 {
						all = append(all, way{provider, controller, service, pools, i&1 > 0, i&2 > 0})
					}
				}
			}
		}
	}
	return all
}

// cluster is a cluster.yaml with it; false if there can be none.
func (w way) cluster() (string, bool) {
	hetzner := w.provider == schemas.Hetzner
	if !hetzner && (w.pools != "" || w.proxyDefault) || w.controller == schemas.None && (w.service != "" || !w.nginx) {
		return "", false
	}
	var b strings.Builder
	fmt.Fprintf(&b, "clusterName: demo\nprovider: %s\n", w.provider)
	if hetzner {
		fmt.Fprintf(&b, "hetzner: {region: hel1, loadBalancers: {proxyProtocol: %v}}\nnodes: {controlPlane: {count: 3, type: cpx22}, workers: {nodepools: [{name: worker, count: 3, type: cpx22}]}}\n", w.proxyDefault)
	} else {
		b.WriteString("endpoint: https://192.168.1.10:6443\nnodes: {controlPlane: {installDisk: /dev/sda, nodes: [{name: one, match: {mac: \"00:00:5e:00:53:01\"}, address: 192.168.1.10/24, gateway: 192.168.1.1}]}}\n")
	}
	b.WriteString("cni: {type: cilium}\ncertificates: {issuers: [{name: le, challenge: cloudflare}]}\ningress:\n")
	if w.nginx {
		b.WriteString("  nginx: {enabled: true}\n")
	}
	if w.controller != schemas.None {
		fmt.Fprintf(&b, "  gateway: {controller: %s, hostnames: [example.com]", w.controller)
		if w.service != "" {
			b.WriteString(", serviceType: " + w.service)
		}
		b.WriteString("}\n")
	}
	if w.pools != "" {
		b.WriteString("  loadBalancerPools: " + w.pools + "\n")
	}
	return b.String(), true
}

// end is one of the two ends of a way in: whether it speaks the PROXY protocol, and at
// which ports of nodes, if the ports are known.
type end struct {
	proxy       bool
	http, https int
}

// TestProxyProtocolOnBothSides: whatever lets traffic in expects the PROXY protocol if,
// and only if, what leads there speaks it, and listens where it leads to.
func TestProxyProtocolOnBothSides(t *testing.T) {
	compared := 0
	for _, w := range ways() {
		text, possible := w.cluster()
		if !possible {
			continue
		}
		f, err := cataloguetest.Facts(t, []byte(text))
		if err != nil {
			t.Fatalf("%+v: %v", w, err)
		}
		addons, err := catalogue.Addons(f)
		if err != nil {
			if !strings.Contains(err.Error(), "both want the ports") {
				t.Errorf("%+v: %v", w, err)
			}
			continue
		}
		for name, a := range byName(addons) {
			listens, annotations, serves := proxyEnd(a)
			if !serves || name == "gateway" && w.controller != schemas.CiliumGateway && w.controller != schemas.EnvoyGateway || name == "cilium" {
				continue
			}
			if w.controller == schemas.CiliumGateway && name == "gateway" {
				listens.proxy = ciliumProxy(byName(addons)["cilium"])
			}
			for _, leads := range leadingTo(w, f, annotations) {
				compared++
				if w.provider == schemas.Static {
					leads.http, leads.https = listens.http, listens.https // people know them
				}
				if listens != leads {
					t.Errorf("%+v: %s listens %+v, load balancers lead %+v", w, name, listens, leads)
				}
			}
		}
	}
	if compared < 30 {
		t.Errorf("only %d ends were compared", compared)
	}
}

func byName(addons []catalogue.Addon) map[string]catalogue.Addon {
	all := map[string]catalogue.Addon{}
	for _, a := range addons {
		all[a.Name] = a
	}
	return all
}

// leadingTo are the ends at load balancers: of the Service with these annotations if
// it has some, else of the pools, else of nobody who speaks the protocol.
func leadingTo(w way, f catalogue.Facts, annotations map[string]any) (all []end) {
	if annotations != nil {
		return []end{{proxy: annotations["load-balancer.hetzner.cloud/uses-proxyprotocol"] == "true"}}
	}
	for _, b := range f.Infrastructure.LoadBalancers {
		var e end
		for _, s := range b.Services {
			switch s.ListenPort {
			case 80:
				e.http, e.proxy = s.DestinationPort, s.ProxyProtocol
			case 443:
				e.https = s.DestinationPort
			}
		}
		if e.http != 0 && e.https != 0 {
			all = append(all, e)
		}
	}
	if w.provider == schemas.Static {
		all = append(all, end{})
	}
	return all
}

func ciliumProxy(a catalogue.Addon) bool {
	return manifest.Section(a.Values, "gatewayAPI")["enableProxyProtocol"] == true
}

// proxyEnd is the end of an addon that lets traffic in, and the annotations of its
// Service for the cloud controller.
func proxyEnd(a catalogue.Addon) (e end, annotations map[string]any, serves bool) {
	switch a.Name {
	case "ingress-nginx":
		service := manifest.Section(a.Values, "controller", "service")
		ports := manifest.Section(service, "nodePorts")
		e.proxy = manifest.Section(a.Values, "controller", "config")["use-proxy-protocol"] == "true"
		return e.at(ports["http"], ports["https"]), manifest.Section(service, "annotations"), true
	case "traefik":
		web, secure := manifest.Section(a.Values, "ports", "web"), manifest.Section(a.Values, "ports", "websecure")
		e.proxy = web["proxyProtocol"] != nil && secure["proxyProtocol"] != nil
		return e.at(web["nodePort"], secure["nodePort"]), manifest.Section(a.Values, "service", "annotations"), true
	case "gateway":
		for _, o := range a.Objects {
			spec := manifest.Section(o, "spec")
			switch o.Kind() {
			case "Gateway":
				if own := manifest.Section(spec, "infrastructure", "annotations"); own != nil {
					annotations = own
				}
				if spec["gatewayClassName"] == "cilium" && annotations == nil {
					listeners := manifest.Maps(spec["listeners"])
					e = e.at(listeners[0]["port"], listeners[1]["port"])
				}
			case "EnvoyProxy":
				service := manifest.Section(spec, "provider", "kubernetes", "envoyService")
				if ports := manifest.Maps(manifest.Section(service, "patch", "value", "spec")["ports"]); len(ports) == 2 {
					e = e.at(ports[0]["nodePort"], ports[1]["nodePort"])
				}
				if own := manifest.Section(service, "annotations"); own != nil {
					annotations = own
				}
			case "ClientTrafficPolicy":
				e.proxy = true
			}
		}
		return e, annotations, true
	}
	return e, nil, false
}

// at is the end at some ports, if there are some.
func (e end) at(http, https any) end {
	if h, ok := http.(int64); ok {
		e.http, e.https = int(h), int(https.(int64))
	}
	return e
}
