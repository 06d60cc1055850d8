package config

import (
	"net/netip"
	"slices"

	"github.com/talosgen/talosgen/schemas"
)

// ciliumOnly are options of the CNI that others do not have.
var ciliumOnly = []string{
	"manager", "ipsec", "kubeProxyReplacement", "routingMode", "datapathMode", "loadBalancerAcceleration", "egressGateway", "gatewayApi", "hubble",
}

// ipsecKeySizes are those of AES.
var ipsecKeySizes = []int{128, 192, 256}

// podNetworkRules are about what belongs together in the network of pods, and
// in ingress.
type podNetworkRules struct{ *reporter }

func (ch podNetworkRules) check() {
	ch.checkIngress()
	c := ch.CNI
	if c.Type != Cilium {
		ch.checkNoCilium()
		return
	}
	if ch.has(keys("cni.ipsec")...) && c.Encryption != "ipsec" {
		ch.fail("set encryption: ipsec, or remove it", keys("cni.ipsec"), "ipsec describes the key of another encryption than %s", c.Encryption)
	}
	if size := c.IPsec.KeySize; size != 0 && !slices.Contains(ipsecKeySizes, size) {
		ch.fail("128, 192 or 256", keys("cni.ipsec.keySize"), "AES has no keys of %d bits", size)
	}
	if c.EgressGateway && !c.KubeProxyReplacement {
		ch.fail("it works with kubeProxyReplacement: true", keys("cni.egressGateway"), "an egress gateway beside kube-proxy")
	}
	if c.KubeProxyReplacement && *ch.Kubernetes.Proxy.Enabled {
		ch.fail("remove one of them", keys("kubernetes.proxy.enabled"), "kube-proxy beside cni.kubeProxyReplacement")
	}
	if c.Hubble.UI && !c.Hubble.Relay {
		ch.fail("set relay: true", keys("cni.hubble.ui"), "the user interface of Hubble needs its relay")
	}
	if c.Hubble.Relay && !c.Hubble.Enabled {
		ch.fail("set enabled: true", keys("cni.hubble.relay"), "the relay of Hubble needs Hubble")
	}
	ch.checkNativeRouting()
}

// checkNoCilium refuses what only Cilium can do.
func (ch podNetworkRules) checkNoCilium() {
	for _, key := range ciliumOnly {
		if at := sub([]string{"cni"}, key); ch.has(at...) {
			ch.fail("remove it, or set type: cilium", at, "%s is for Cilium only", key)
		}
	}
	if e := ch.CNI.Encryption; e != "" && e != "none" {
		ch.fail("set type: cilium; or enable talos.kubeSpan, which encrypts everything between nodes", keys("cni.encryption"), "only Cilium encrypts, not %s", ch.CNI.Type)
	}
}

// checkNativeRouting makes sure that Hetzner's network can have routes to pods.
func (ch podNetworkRules) checkNativeRouting() {
	network, err := netip.ParsePrefix(ch.Network.CIDR)
	if err != nil || ch.CNI.RoutingMode != "native" {
		return
	}
	if !*ch.Hetzner.PodRoutes {
		ch.warn("remove it, or set cni.routingMode: tunnel", keys("hetzner.podRoutes"), "native routing without routes to pods: something else has to make them")
	}
	for _, s := range ch.subnets("podCidrs", "pod", ch.Network.PodCidrs) {
		if s.prefix.Addr().Is4() && !within(network, s.prefix) {
			ch.fail("the private network routes only its own addresses; or set cni.routingMode: tunnel", s.path,
				"pod subnet %s is not in network.cidr %s", s.prefix, network)
		}
	}
}

// checkIngress checks what belongs together in ingress.
func (ch podNetworkRules) checkIngress() {
	in := ch.Ingress
	if in.Nginx.Kind == "DaemonSet" && ch.has(keys("ingress.nginx.replicas")...) {
		ch.fail("a DaemonSet has a pod on every node", keys("ingress.nginx.replicas"), "replicas are for kind Deployment")
	}
	ch.healthCheck(keys("ingress.loadBalancer.healthCheck"), in.LoadBalancer.HealthCheck)
	ch.unique(keys("ingress.loadBalancerPools"), "name", namesOf(in.LoadBalancerPools, func(p schemas.LoadBalancerPool) string { return p.Name }))
}
