package catalogue

import (
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// webRules are about what belongs together in the way in: what listens, names and
// certificates.
type webRules struct{ web }

func (f webRules) check() {
	f.checkIssuers()
	f.checkDNS()
	f.checkPorts()
	f.checkAddresses()
	if f.Cluster.Ingress.Gateway.Controller != schemas.None {
		f.checkGateway()
		f.checkHostnames()
	}
}

// checkIssuers makes sure that each issuer has a name of its own.
func (f webRules) checkIssuers() {
	seen := map[string]bool{}
	for i, issuer := range f.Cluster.Certificates.Issuers {
		if seen[issuer.Name] {
			f.fail(issuerOption(i)+".name", "give one of them another name", "a second issuer %s", issuer.Name)
		}
		seen[issuer.Name] = true
	}
}

// checkGateway makes sure that something serves the gateway, and nothing else its
// ports.
func (f webRules) checkGateway() {
	in, c := f.Cluster.Ingress, f.Cluster.CNI
	if len(in.Gateway.Hostnames) == 0 {
		f.fail(gatewayOption, "for example ingress.gateway.hostnames: ['*.example.com']", "the gateway has no names that it has certificates for")
	}
	if len(f.Cluster.Certificates.Issuers) == 0 {
		f.fail(gatewayOption, "add one to certificates.issuers", "the gateway has no issuer of certificates")
	}
	if in.Gateway.Controller == schemas.CiliumGateway && (c.Type != ciliumName || !c.GatewayAPI) {
		f.fail(gatewayOption, "set cni.type: cilium and cni.gatewayApi: true, or another controller", "Cilium does not serve the Gateway API in this cluster")
	}
	if in.Nginx.Enabled && f.nginxServiceType() == schemas.NodePortService && f.gatewayService() == schemas.NodePortService {
		f.fail(gatewayOption, "turn ingress.nginx off; or set ingress.gateway.serviceType: LoadBalancer, until all has moved",
			"ingress-nginx and the gateway both want the ports %d and %d of the nodes", f.nodePort(httpPort), f.nodePort(httpsPort))
	}
}

// checkHostnames makes sure that the issuer can sign the names of the gateway.
func (f webRules) checkHostnames() {
	g, issuer := f.Cluster.Ingress.Gateway, f.gatewayIssuer()
	if issuer.Name == "" && len(f.Cluster.Certificates.Issuers) > 0 {
		var names []string
		for _, i := range f.Cluster.Certificates.Issuers {
			names = append(names, i.Name)
		}
		f.fail("ingress.gateway.issuer", diag.Suggest(g.Issuer, names), "no issuer %s in certificates.issuers", g.Issuer)
		return
	}
	seen := map[string]bool{}
	for i, host := range g.Hostnames {
		option := "ingress.gateway.hostnames." + strconv.Itoa(i)
		switch {
		case seen[host]:
			f.fail(option, "remove it", "%s is there twice", host)
		case issuer.Challenge == schemas.HTTP01 && strings.HasPrefix(host, "*."):
			f.fail(option, "name the hosts; or prove names by records of a zone: challenge: hetzner", "the issuer %s proves names by HTTP, which proves none with *", issuer.Name)
		case issuer.Name != "" && !inZones(host, issuer.Zones):
			f.fail(option, "add its zone to those of the issuer, or take another issuer", "%s is in none of the zones of the issuer %s", host, issuer.Name)
		}
		seen[host] = true
	}
}

// inZones tells whether a name is in one of some zones; if there are none, it is.
func inZones(host string, zones []string) bool {
	name := strings.TrimPrefix(host, "*.")
	return len(zones) == 0 || slices.ContainsFunc(zones, func(zone string) bool { return name == zone || strings.HasSuffix(name, "."+zone) })
}

// checkPorts makes sure that all load balancers lead to where something listens, in
// the way that it expects.
func (f webRules) checkPorts() {
	in := f.Cluster.Ingress
	nginx := in.Nginx.Enabled && f.nginxServiceType() == schemas.NodePortService
	served := nginx || in.Gateway.Controller != schemas.None && f.gatewayService() == schemas.NodePortService
	byService := nginx || in.Gateway.Controller != schemas.CiliumGateway
	_, ownRange := f.Cluster.Kubernetes.APIServer.ExtraArgs["service-node-port-range"]
	for i, pool := range in.LoadBalancerPools {
		if pool.LocalTraffic != f.localTraffic() && served && byService {
			f.fail("ingress.loadBalancerPools."+strconv.Itoa(i)+".localTraffic", "give all pools the same", "one Service is behind all pools: it leads to local pods for all of them, or for none")
		}
		listens := map[int]bool{}
		for j, p := range pool.Ports {
			option := "ingress.loadBalancerPools." + strconv.Itoa(i) + ".ports." + strconv.Itoa(j)
			web := p.Listen == httpPort || p.Listen == httpsPort
			switch {
			case listens[p.Listen]:
				f.fail(option+".listen", "keep one of them", "the load balancers of the pool %s listen on port %d twice", pool.Name, p.Listen)
			case !web || !served:
			case !*p.ProxyProtocol:
				f.fail(option+".proxyProtocol", "remove it", "what listens at port %d of the nodes expects the PROXY protocol", p.Node)
			case byService && (p.Node < leastNodePort || p.Node > mostNodePort) && !ownRange:
				f.fail(option+".node", "take one of them", "Services have ports of nodes from %d to %d", leastNodePort, mostNodePort)
			case p.Node != f.nodePort(p.Listen):
				f.fail(option+".node", "give all pools the same", "one Service is behind port %d, at port %d of the nodes and not at %d", p.Listen, f.nodePort(p.Listen), p.Node)
			}
			listens[p.Listen] = true
		}
	}
}
