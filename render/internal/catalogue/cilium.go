package catalogue

import (
	"encoding/hex"
	"io"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

const (
	ciliumName    = "cilium"
	ciliumRepo    = "https://helm.cilium.io"
	ciliumVersion = "1.20.2"

	// The Secret and its key that Cilium looks for.
	ipsecSecret = "cilium-ipsec-keys"
	ipsecKey    = "keys"
	// Ways to move packets of pods between nodes.
	native = "native"
	ipsec  = "ipsec"
)

// cilium is the network of the pods.
func cilium() entry {
	e := entry{
		about:     "the network of the pods, with encryption, policies and, if asked, the Gateway API",
		defaultOn: "with cni.type: cilium", options: "cni",
		name: ciliumName, layer: Bootstrap, namespace: kubeSystem, fixed: true, onlyBy: "cni.type", version: ciliumVersion,
		wanted: func(f *facts) (bool, string) { return f.Cluster.CNI.Type == ciliumName, "cni.type" },
		needs:  needIPsec,
	}
	e.build = func(f *facts, a *Addon) {
		c := f.Cluster.CNI
		a.Keep = true
		a.Source = &Source{Chart: &Chart{Repository: ciliumRepo, Name: ciliumName, Version: f.version(e)}}
		if c.Manager == "flux" {
			a.Layer = Controllers
		}
		if c.GatewayAPI {
			a.DependsOn = append(a.DependsOn, gatewayName)
		}
		if c.Encryption == ipsec {
			a.Objects = []object{ipsecObject(f)}
		}
		a.Values = plain(ciliumValues(f)).(fields)
	}
	return e
}

// ciliumValues are the values of the chart, from what the options say and what
// Talos needs.
func ciliumValues(f *facts) fields {
	c := f.Cluster.CNI
	values := fields{
		"rollOutCiliumPods": true,
		"operator":          ciliumOperator(f),
		"ipam":              fields{"mode": "kubernetes"},
		"bpf":               ciliumBPF(f),
		"encryption":        fields{"enabled": c.Encryption != "none"},
		"egressGateway":     fields{"enabled": c.EgressGateway},
		"gatewayAPI":        ciliumGateway(f),
		"hubble":            ciliumHubble(f),
		// Talos mounts it, and loads kernel modules itself.
		"cgroup": fields{"autoMount": fields{"enabled": false}, "hostRoot": "/sys/fs/cgroup"},
		"securityContext": fields{"capabilities": fields{
			"ciliumAgent":      strings.Fields("CHOWN KILL NET_ADMIN NET_RAW IPC_LOCK SYS_ADMIN SYS_RESOURCE DAC_OVERRIDE FOWNER SETGID SETUID"),
			"cleanCiliumState": strings.Fields("NET_ADMIN SYS_ADMIN SYS_RESOURCE"),
		}},
		"kubeProxyReplacement": strconv.FormatBool(c.KubeProxyReplacement),
	}
	if c.Encryption != "none" {
		values["encryption"].(fields)["type"] = c.Encryption
	}
	if c.Hubble.Enabled {
		// A Job that is gone after a while would be made again and again.
		values["certgen"] = fields{"ttlSecondsAfterFinished": 0}
	}
	if c.KubeProxyReplacement {
		values["kubeProxyReplacementHealthzBindAddr"] = "0.0.0.0:10256"
		values["loadBalancer"] = fields{"acceleration": c.LoadBalancerAcceleration}
		values["k8sServiceHost"], values["k8sServicePort"] = f.apiServer()
		if on, _ := f.enabled(tailscale()); on {
			// Its proxies see addresses of services, which else are gone by then.
			values["socketLB"] = fields{"hostNamespaceOnly": true}
		}
	}
	addresses{f}.ciliumAnnouncements(values)
	f.ciliumRouting(values)
	return values
}

// apiServer is where the API is without services: at each node's KubePrism, or
// at the endpoint.
func (f *facts) apiServer() (host, port string) {
	if k := f.Cluster.Talos.KubePrism; k.Enabled {
		return "127.0.0.1", strconv.Itoa(k.Port)
	}
	endpoint, err := url.Parse(f.Infrastructure.KubernetesAPI.Endpoint)
	if err != nil {
		return "", ""
	}
	return endpoint.Hostname(), endpoint.Port()
}

// ciliumRouting says how packets get from node to node: by routes, which the
// cloud controller makes on Hetzner and nodes of one network themselves, or
// through a tunnel.
func (f *facts) ciliumRouting(values fields) {
	c, k8s := f.Cluster.CNI, fields{}
	values["routingMode"], values["k8s"] = c.RoutingMode, k8s
	for _, pods := range f.Cluster.Network.PodCidrs {
		prefix, err := netip.ParsePrefix(pods)
		if err != nil {
			continue // reported already
		}
		version := map[bool]string{true: "4", false: "6"}[prefix.Addr().Is4()]
		values["ipv"+version] = fields{"enabled": true}
		k8s["requireIPv"+version+"PodCIDR"] = true
		if c.RoutingMode == native {
			values["ipv"+version+"NativeRoutingCIDR"] = f.nativeRange(version, pods)
		}
	}
	if values["ipv4"] == nil {
		values["ipv4"] = fields{"enabled": false}
	}
	if c.RoutingMode == native {
		values["autoDirectNodeRoutes"] = f.Cluster.Provider == schemas.Static
		values["installNoConntrackIptablesRules"] = c.KubeProxyReplacement
	}
}

// nativeRange is where pods are reached without translation of their address.
func (f *facts) nativeRange(version, pods string) string {
	given := f.Cluster.Network.NativeRoutingCIDR
	if prefix, err := netip.ParsePrefix(given); err == nil && prefix.Addr().Is4() == (version == "4") {
		return given
	}
	if version == "4" && f.Cluster.Network.CIDR != "" {
		return f.Cluster.Network.CIDR
	}
	return pods
}

// ciliumBPF lets packets of pods through the network stack of the host where it
// has something to do with them: for IPsec, and for Talos' DNS cache.
func ciliumBPF(f *facts) fields {
	c, dns := f.Cluster.CNI, f.Cluster.Talos.HostDNS
	forwards := dns.Enabled && dns.ForwardKubeDNSToHost
	bpf := fields{"datapathMode": c.DatapathMode, "masquerade": c.KubeProxyReplacement, "hostLegacyRouting": c.Encryption == ipsec || forwards}
	if strings.HasPrefix(c.DatapathMode, "netkit") && bpf["hostLegacyRouting"] == true {
		f.fail("cni.datapathMode", "use veth, or neither IPsec nor talos.hostDns.forwardKubeDnsToHost",
			"%s devices pass by the network stack of the host, which IPsec and Talos' DNS cache for pods need", c.DatapathMode)
	}
	return bpf
}

func ciliumOperator(f *facts) fields {
	replicas := 1
	if f.countRole(schemas.RoleControlPlane) > 1 {
		replicas = 2
	}
	return fields{"rollOutPods": true, "replicas": replicas, "nodeSelector": onControlPlanes()}
}

func ciliumGateway(f *facts) fields {
	if !f.Cluster.CNI.GatewayAPI {
		return fields{"enabled": false}
	}
	public := f.Cluster.Ingress.Gateway.Controller == schemas.CiliumGateway
	gateway := fields{
		"enabled": true, "enableAlpn": true, "enableAppProtocol": true,
		"enableProxyProtocol": f.Cluster.Provider == schemas.Hetzner && (public || f.Cluster.Hetzner.LoadBalancers.ProxyProtocol),
		// Rendering does not ask the cluster for its definitions.
		"gatewayClass": fields{"create": "true"},
	}
	if public && (web{f}).gatewayService() == schemas.NodePortService {
		gateway["hostNetwork"] = fields{"enabled": true} // its Services have no ports of nodes that one could name
	}
	return gateway
}

func ciliumHubble(f *facts) fields {
	h := f.Cluster.CNI.Hubble
	if !h.Enabled {
		return fields{"enabled": false}
	}
	return fields{
		"enabled":     true,
		"relay":       fields{"enabled": h.Relay, "rollOutPods": true},
		"ui":          fields{"enabled": h.UI, "rollOutPods": true},
		"peerService": fields{"clusterDomain": f.Cluster.Network.DNSDomain},
		// Certificates are made in the cluster: what Helm makes is other at each
		// render.
		"tls": fields{"auto": fields{"enabled": true, "method": "cronJob"}},
	}
}

// ipsecVariable holds the key with a number. Another number asks for another
// key: Cilium must not see one key under two numbers, nor two under one.
func ipsecVariable(id int) string { return "CILIUM_IPSEC_KEY_" + strconv.Itoa(id) }

// ipsecBytes is the length of a key: that of AES, and a salt.
func ipsecBytes(bits int) int { return bits/8 + 4 }

func needIPsec(f *facts) []Need {
	c := f.Cluster.CNI
	if c.Encryption != ipsec {
		return nil
	}
	size := ipsecBytes(c.IPsec.KeySize)
	return []Need{{
		Name: ipsecVariable(c.IPsec.KeyID), Option: "cni.encryption", What: "the key of the encryption between nodes",
		Shape: strings.Repeat("0", 2*size),
		Generate: func(random io.Reader) (secret.String, error) {
			key := make([]byte, size)
			if _, err := io.ReadFull(random, key); err != nil {
				return secret.String{}, err
			}
			return secret.New(hex.EncodeToString(key)), nil
		},
	}}
}

// ipsecObject is the key in the form that Cilium reads: its number, with + for a
// key of its own for each pair of nodes, the algorithm, and the length of the
// checksum.
func ipsecObject(f *facts) object {
	k := f.Cluster.CNI.IPsec
	key := f.Secrets[ipsecVariable(k.KeyID)].Reveal()
	if data, err := hex.DecodeString(key); key != "" && (err != nil || len(data) != ipsecBytes(k.KeySize)) {
		f.fail("cni.ipsec", "remove it with `talosgen secrets edit "+f.Environment+"`, and `talosgen secrets sync` makes one; or raise keyId for a new one",
			"the secret variable %s is no key of %d bits: %d hexadecimal digits", ipsecVariable(k.KeyID), k.KeySize, 2*ipsecBytes(k.KeySize))
	}
	return secretObject(kubeSystem, ipsecSecret, map[string]string{
		ipsecKey: strconv.Itoa(k.KeyID) + "+ " + k.Algorithm + " " + key + " 128",
	})
}
