package infra

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/schemas"
)

// inCluster is a name that Talos puts into every certificate of the Kubernetes
// API.
const inCluster = "kubernetes.default.svc"

// apiResolver resolves how the Kubernetes API is reached.
type apiResolver struct{ *resolver }

// api resolves how the Kubernetes API is reached.
func (r apiResolver) api() {
	a := schemas.InfraAPI{Endpoint: r.endpoint(), VirtualIP: r.virtualIP()}
	host := r.c.Kubernetes.APIHostname
	switch {
	case host != "":
		a.ExternalEndpoint = apiURL(host)
	case r.c.Endpoint != "" || r.c.Access == "private":
		a.ExternalEndpoint = a.Endpoint
	default:
		a.External = r.apiTargets()
	}
	if len(a.External) == 0 {
		a.ExternalEndpoint = cmp.Or(a.ExternalEndpoint, a.Endpoint)
	}
	a.TLSServerName = cmp.Or(host, nameOf(a.Endpoint), inCluster)
	for _, san := range CertSANs(r.c, r.Facts, a) {
		a.CertSANs = append(a.CertSANs, san.Value)
	}
	if oidc := r.c.Kubernetes.OIDC; oidc.Enabled {
		a.OIDC = &schemas.InfraOIDC{IssuerURL: oidc.IssuerURL, ClientID: oidc.ClientID}
	}
	r.out.KubernetesAPI = a
}

// endpoint is what nodes reach the API by. It is private and known before there
// is anything: the address of the load balancer, else the one that control
// planes share, else that of the first control plane.
func (r apiResolver) endpoint() string {
	if r.c.Endpoint != "" {
		return r.c.Endpoint // also the vip of static nodes
	}
	if r.c.Hetzner.APILoadBalancer.Enabled {
		if address, err := r.c.Subnets().APILoadBalancer(); err == nil {
			return apiURL(address.String())
		}
	}
	if vip := r.virtualIP(); vip != "" {
		return apiURL(vip)
	}
	for _, n := range r.controlPlanes() {
		return apiURL(n.PrivateIP)
	}
	return "" // reported already: a cluster has a control plane
}

// virtualIP is the private address that control planes share.
func (r apiResolver) virtualIP() string {
	cp := r.c.Cluster.Nodes.ControlPlane
	if r.c.Provider == schemas.Static {
		return cp.VIP
	}
	if !*cp.PrivateVIP {
		return ""
	}
	address, err := r.c.Subnets().ControlPlaneVIP()
	if err != nil {
		r.fail("nodes.controlPlane", "", "the private virtual IP: %v", err)
		return ""
	}
	return address.String()
}

// apiTargets are the objects by whose public addresses people reach the API,
// the most stable ones first.
func (r apiResolver) apiTargets() []schemas.InfraTarget {
	if lb := r.c.Hetzner.APILoadBalancer; lb.Enabled && *lb.PublicNetwork {
		return []schemas.InfraTarget{{Kind: schemas.TargetLoadBalancer, Name: r.name(kubeAPI)}}
	}
	for _, f := range r.out.FloatingIPs {
		return []schemas.InfraTarget{{Kind: schemas.TargetFloatingIP, Name: f.Name, ID: f.ExistingID}}
	}
	return r.controlPlaneTargets()
}

func (r apiResolver) controlPlaneTargets() []schemas.InfraTarget {
	var targets []schemas.InfraTarget
	for _, s := range r.controlPlanes() {
		if s.PublicIPv4 || s.PublicIPv6 {
			targets = append(targets, schemas.InfraTarget{Kind: schemas.TargetServer, Name: s.Name})
		}
	}
	return targets
}

// controlPlanes are the servers that run the API.
func (r *resolver) controlPlanes() []schemas.InfraServer {
	var all []schemas.InfraServer
	for _, s := range r.out.Servers {
		if s.Role == config.ControlPlane {
			all = append(all, s)
		}
	}
	return all
}

// nameOf is the host of a URL if it is a name.
func nameOf(endpoint string) string {
	if host := hostOf(endpoint); !isAddress(host) {
		return host
	}
	return ""
}

func apiURL(host string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return "https://" + host + ":" + strconv.Itoa(kubernetesPort)
}
