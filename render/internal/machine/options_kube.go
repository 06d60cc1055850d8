package machine

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// KubernetesOptions are the options of cluster.yaml for the components of
// Kubernetes. Workers have only the kubelet, and what it must know.
type KubernetesOptions struct {
	APIServer         ComponentOptions
	ControllerManager ComponentOptions
	Scheduler         ComponentOptions
	Etcd              EtcdOptions
	Proxy             ProxyOptions
	Kubelet           KubeletOptions
	CoreDNS           CoreDNSOptions

	CertSANs         []Option // names of the API server besides those that Talos knows
	AdmissionPlugins []AdmissionPlugin
	OIDC             *OIDCOptions // nil if nobody logs in that way
	InlineManifests  []Manifest   // Source is the manifest itself
	RemoteManifests  []Manifest   // Source is a URL

	// NoCNI, if it has a value, says why Talos installs no pod network.
	NoCNI Option
	// ExternalCloudProvider is "true" if a cloud controller manager introduces
	// nodes; else it has no value.
	ExternalCloudProvider Option
}

// ComponentOptions are what components have in common.
type ComponentOptions struct {
	Image     Option
	ExtraArgs OptionMap // without --
}

// EtcdOptions are those of the store of the control plane.
type EtcdOptions struct {
	ComponentOptions
	AdvertisedSubnets []Option // that hold the addresses by which members find one another
}

// ProxyOptions are those of kube-proxy.
type ProxyOptions struct {
	ComponentOptions
	Disabled Option // "true", or no value
	Mode     Option // nftables, iptables or ipvs
}

// CoreDNSOptions are those of the cluster's DNS.
type CoreDNSOptions struct {
	Disabled Option // "true", or no value
	Image    Option
}

// Manifest is something that Talos applies when the cluster begins.
type Manifest struct {
	Name, Source Option
}

// place is where a contract keeps a component: a section of the v1alpha1
// document, or a document of its own.
type place struct {
	id   ID
	path []string
}

// home returns the place of what has a section up to contract 1.13, and a
// document since.
func (b *optionBuilder) home(section, kindName string) place {
	if multiDocument(b.vc) {
		return place{id: kind(kindName)}
	}
	return place{MainID, strings.Split(section, ".")}
}

// put puts a value at a path below a place.
func (b *optionBuilder) put(p place, value *yaml.Node, path ...string) {
	full := append(p.path[:len(p.path):len(p.path)], path...)
	put(b.parent(p.id, posOf(value), full), full[len(full)-1], value)
}

// append appends an item to the list at a path below a place.
func (b *optionBuilder) append(p place, item *yaml.Node, path ...string) {
	b.add(p.id, item, append(p.path[:len(p.path):len(p.path)], path...)...)
}

// kubernetesWriter writes what belongs to the components of Kubernetes.
type kubernetesWriter struct{ *optionBuilder }

// kubernetes sets what belongs to the components of Kubernetes.
func (b kubernetesWriter) kubernetes() {
	o := b.options.Kubernetes
	b.kubelet(o.Kubelet)
	if o.ExternalCloudProvider.Value != "" {
		// It stays in the v1alpha1 document, also at 1.14.
		b.put(place{id: MainID}, boolNode(true, o.ExternalCloudProvider.Pos), "cluster", "externalCloudProvider", "enabled")
	}
	if b.role != ControlPlane {
		return
	}
	apiServerWriter(b).apiServer(o)
	b.component(b.home("cluster.controllerManager", "KubeControllerManagerConfig"), o.ControllerManager)
	b.component(b.home("cluster.scheduler", "KubeSchedulerConfig"), o.Scheduler)
	b.etcd(o.Etcd)
	b.proxy(o.Proxy)
	b.coreDNS(o.CoreDNS)
	b.cni(o.NoCNI)
	b.manifests(o)
}

// component sets the image and the arguments.
func (b *optionBuilder) component(p place, c ComponentOptions) {
	if c.Image.Value != "" {
		b.put(p, stringNode(c.Image.Value, c.Image.Pos), "image")
	}
	for _, arg := range sortedKeys(c.ExtraArgs) {
		b.put(p, stringNode(c.ExtraArgs[arg].Value, c.ExtraArgs[arg].Pos), "extraArgs", arg)
	}
}

// etcd has stayed in the v1alpha1 document.
func (b kubernetesWriter) etcd(o EtcdOptions) {
	p := place{MainID, []string{"cluster", "etcd"}}
	b.component(p, o.ComponentOptions)
	for _, subnet := range o.AdvertisedSubnets {
		b.append(p, stringNode(subnet.Value, subnet.Pos), "advertisedSubnets")
	}
}

func (b kubernetesWriter) proxy(o ProxyOptions) {
	p := b.home("cluster.proxy", "KubeProxyConfig")
	b.component(p, o.ComponentOptions)
	b.disable(p, o.Disabled)
	if o.Mode.Value != "" {
		b.put(p, stringNode(o.Mode.Value, o.Mode.Pos), "mode")
	}
}

func (b kubernetesWriter) coreDNS(o CoreDNSOptions) {
	p := b.home("cluster.coreDNS", "KubeCoreDNSConfig")
	b.disable(p, o.Disabled)
	if o.Image.Value != "" {
		b.put(p, stringNode(o.Image.Value, o.Image.Pos), "image")
	}
}

// disable switches off what has `disabled` in the v1alpha1 document, and
// `enabled` in a document of its own.
func (b kubernetesWriter) disable(p place, disabled Option) {
	switch {
	case disabled.Value == "":
	case p.id.IsMain():
		b.put(p, boolNode(true, disabled.Pos), "disabled")
	default:
		b.put(p, boolNode(false, disabled.Pos), "enabled")
	}
}

// cni leaves the pod network to somebody else. At 1.14 that is the absence of
// the document for Flannel.
func (b kubernetesWriter) cni(none Option) {
	switch {
	case none.Value == "":
	case multiDocument(b.vc):
		b.remove(kind("KubeFlannelCNIConfig"), none.Pos)
	default:
		b.set(MainID, none.Pos, "none", "cluster", "network", "cni", "name")
	}
}

// manifests are lists up to contract 1.13, and documents since.
func (b kubernetesWriter) manifests(o KubernetesOptions) {
	for _, m := range o.InlineManifests {
		contents := stringNode(m.Source.Value, m.Source.Pos)
		if multiDocument(b.vc) {
			b.put(b.named("KubeInlineManifestConfig", m.Name), contents, "manifest")
			continue
		}
		item := mappingNode(m.Name.Pos)
		put(item, "name", stringNode(m.Name.Value, m.Name.Pos))
		put(item, "contents", contents)
		b.add(MainID, item, "cluster", "inlineManifests")
	}
	for _, m := range o.RemoteManifests {
		url := stringNode(m.Source.Value, m.Source.Pos)
		if multiDocument(b.vc) {
			b.put(b.named("KubeExternalManifestConfig", m.Name), url, "url")
			continue
		}
		b.add(MainID, url, "cluster", "extraManifests")
	}
}
