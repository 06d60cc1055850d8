package config

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/talosgen/talosgen/schemas"
)

// Types of CNI.
const (
	Cilium  = "cilium"
	Flannel = "flannel" // Talos' own
)

// Hetzner's own servers, which answer nobody else.
var (
	hetznerNameservers = []string{"185.12.64.1", "185.12.64.2", "2a01:4ff:ff00::add:1", "2a01:4ff:ff00::add:2"}
	hetznerTimeServers = []string{"ntp1.hetzner.de", "ntp2.hetzner.com", "ntp3.hetzner.net"}
)

// completer fills in what follows from other values.
type completer struct{ *reporter }

func (ch completer) complete() {
	hetzner := ch.Provider == schemas.Hetzner
	ch.setEndpoint()
	ch.setRanges()
	setBool(&ch.Talos.DiskEncryption.State, hetzner)
	setBool(&ch.Talos.DiskEncryption.Ephemeral, hetzner)
	setBool(&ch.Talos.APIAccess.Enabled, hetzner)
	setBool(&ch.Cluster.Nodes.ControlPlane.PrivateVIP, hetzner && !ch.has("endpoint") && !ch.Hetzner.APILoadBalancer.Enabled)
	setBool(&ch.Kubernetes.ExternalCloudProvider, hetzner)
	setBool(&ch.Kubernetes.Kubelet.RotateServerCertificates, true)
	if !ch.has(keys("talos.hostDns.resolveMemberNames")...) { // a cache that is not there knows no names
		ch.Talos.HostDNS.ResolveMemberNames = ch.Talos.HostDNS.Enabled
	}
	cilium := ch.CNI.Type == Cilium
	setBool(&ch.Kubernetes.Proxy.Enabled, !cilium || !ch.CNI.KubeProxyReplacement)
	if !ch.has("cni", "encryption") {
		ch.CNI.Encryption = map[bool]string{true: "wireguard", false: "none"}[cilium]
	}
	for i := range ch.Kubernetes.Kubelet.ExtraMounts {
		m := &ch.Kubernetes.Kubelet.ExtraMounts[i]
		m.Destination = cmp.Or(m.Destination, m.Source)
	}
	if on := ch.Cluster.Addons["kube-prometheus-stack"].Enabled; on != nil && *on {
		setBool(&ch.Kubernetes.OpenMetrics, true)
	}
	ch.setBackups()
	ch.setGitOps()
	ch.setGatewayAPI()
	if hetzner {
		ch.setHetzner()
		setBool(&ch.Hetzner.PodRoutes, cilium && ch.CNI.RoutingMode == "native")
		ch.setVolumes()
		ch.setLocations()
	}
}

// setEndpoint reaches the Kubernetes API of static nodes by their vip. That of
// Hetzner follows from addresses that are not known here.
func (ch completer) setEndpoint() {
	if ch.has("endpoint") || ch.Provider != schemas.Static {
		return
	}
	vip := ch.Cluster.Nodes.ControlPlane.VIP
	if addr, err := netip.ParseAddr(vip); err == nil {
		ch.Endpoint = "https://" + netip.AddrPortFrom(addr, 6443).String()
		ch.pos["endpoint"] = ch.Pos(keys("nodes.controlPlane.vip")...)
		return
	}
	if !ch.has(keys("nodes.controlPlane.vip")...) {
		ch.fail("for example endpoint: https://192.168.1.10:6443; or give nodes.controlPlane.vip", nil, "endpoint is required")
	}
}

func (ch completer) setHetzner() {
	h, public := &ch.Hetzner, ch.Access == "public"
	if !ch.has(keys("hetzner.networkZone")...) {
		h.NetworkZone = zones[h.Region]
	}
	f := &h.Firewall
	sources := ch.has(keys("hetzner.firewall.apiSource")...) || ch.has(keys("hetzner.firewall.kubeApiSource")...) ||
		ch.has(keys("hetzner.firewall.talosApiSource")...)
	setBool(&f.UseCurrentIPv4, public && !sources)
	setBool(&f.UseCurrentIPv6, public && !sources)
	if !ch.has(keys("hetzner.firewall.kubeApiSource")...) {
		f.KubeAPISource = f.APISource
	}
	if !ch.has(keys("hetzner.firewall.talosApiSource")...) {
		f.TalosAPISource = f.APISource
	}
	setBool(&h.APILoadBalancer.PublicNetwork, public)
	setBool(&ch.Network.NATGateway.Enabled, !ch.Network.PublicIPv4)
	if ch.Network.MTU == 0 {
		ch.Network.MTU = map[bool]int{false: 1450, true: 1400}[ch.Network.VSwitch.ID != 0]
	}
	if !ch.has(keys("talos.nameservers")...) {
		ch.Talos.Nameservers = hetznerNameservers
	}
	if !ch.has(keys("talos.timeServers")...) {
		ch.Talos.TimeServers = hetznerTimeServers
	}
}

// setLocations puts into the region what has no location of its own.
func (ch completer) setLocations() {
	region := ch.Hetzner.Region
	places := []*string{
		&ch.Cluster.Nodes.ControlPlane.Location, &ch.Network.NATGateway.Location, &ch.Hetzner.APILoadBalancer.Location,
		&ch.Hetzner.LoadBalancers.Location,
	}
	for i := range ch.Cluster.Nodes.ControlPlane.NodePools {
		places = append(places, &ch.Cluster.Nodes.ControlPlane.NodePools[i].Location)
	}
	for i := range ch.Cluster.Nodes.Workers.NodePools {
		places = append(places, &ch.Cluster.Nodes.Workers.NodePools[i].Location)
	}
	for i := range ch.Autoscaler.NodePools {
		places = append(places, &ch.Autoscaler.NodePools[i].Location)
	}
	shared := ch.Ingress.LoadBalancer
	for i := range ch.Ingress.LoadBalancerPools {
		p := &ch.Ingress.LoadBalancerPools[i]
		places = append(places, &p.Location)
		p.Type = cmp.Or(p.Type, shared.Type)
		p.Algorithm = cmp.Or(p.Algorithm, shared.Algorithm)
		setBool(&p.PublicNetwork, shared.PublicNetwork)
		setPorts(p)
	}
	for _, place := range places {
		*place = cmp.Or(*place, region)
	}
	g := &ch.Network.NATGateway
	g.Type = cmp.Or(g.Type, gatewayType(g.Location))
	if g.Standby.Enabled {
		g.Standby.Location = cmp.Or(g.Standby.Location, elsewhere(g.Location))
	}
}

// setVolumes gives pods encrypted volumes, and others to those who ask for them.
func (ch completer) setVolumes() {
	if !ch.has(keys("hetzner.volumes.storageClasses")...) {
		ch.Hetzner.Volumes.StorageClasses = []schemas.StorageClass{
			{Name: "hcloud-volumes-encrypted", Encrypted: true, Default: true, ReclaimPolicy: "Delete"},
			{Name: "hcloud-volumes", ReclaimPolicy: "Delete"},
		}
	}
}

// setBackups keeps backups in Hetzner's object storage.
func (ch completer) setBackups() {
	s3 := &ch.Talos.Backups.S3
	s3.Prefix = cmp.Or(s3.Prefix, ch.ClusterName)
	if ch.Provider != schemas.Hetzner {
		s3.Region = cmp.Or(s3.Region, "us-east-1")
		return
	}
	s3.Region = cmp.Or(s3.Region, ch.Hetzner.Region)
	if slices.Contains(objectStorage, s3.Region) {
		s3.Endpoint = cmp.Or(s3.Endpoint, "https://"+s3.Region+".your-objectstorage.com")
	}
}

// setBool fills in what the file leaves open.
func setBool(b **bool, value bool) {
	if *b == nil {
		*b = &value
	}
}

// setPorts lets the load balancers of a pool lead to what serves the web, unless they
// are said to lead elsewhere.
func setPorts(p *schemas.LoadBalancerPool) {
	if len(p.Ports) == 0 {
		p.Ports = []schemas.LoadBalancerPort{{Listen: 80, Node: 30000}, {Listen: 443, Node: 30001}}
	}
	for i := range p.Ports {
		listen := p.Ports[i].Listen
		setBool(&p.Ports[i].ProxyProtocol, listen == 80 || listen == 443)
	}
}

// setGatewayAPI lets Cilium serve the gateway that it is said to.
func (ch completer) setGatewayAPI() {
	if ch.Ingress.Gateway.Controller == schemas.CiliumGateway && ch.CNI.Type == Cilium && !ch.has(keys("cni.gatewayApi")...) {
		ch.CNI.GatewayAPI = true
	}
}
