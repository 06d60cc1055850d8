package machine

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/legacy"
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
	// MetricsAddress is where it listens for who asks for its metrics.
	MetricsAddress Option
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

// place is where a contract keeps a value: at a path in the v1alpha1 document, or in a
// document of its own.
type place struct {
	id   ID
	path []string
}

// at returns the place of what a path of the v1alpha1 document is, or was.
func (b *optionBuilder) at(path string) place {
	to := legacy.PlaceOf(path, b.vc.Minor)
	p := place{id: MainID}
	if to.Kind != "" {
		p.id = ID{mainKind, to.Kind, to.Name}
	}
	if to.Field != "" {
		p.path = strings.Split(to.Field, ".")
	}
	return p
}

// below is the place of what is at a path below.
func (p place) below(path ...string) place {
	return place{p.id, append(p.path[:len(p.path):len(p.path)], path...)}
}

// moved reports whether the place is in a document of its own.
func (p place) moved() bool { return !p.id.IsMain() }

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
	b.truth(b.at("cluster.externalCloudProvider"), o.ExternalCloudProvider, "enabled")
	if b.role != ControlPlane {
		return
	}
	apiServerWriter(b).apiServer(o)
	b.component("cluster.controllerManager", o.ControllerManager)
	b.component("cluster.scheduler", o.Scheduler)
	b.etcd(o.Etcd)
	b.proxy(o.Proxy)
	b.coreDNS(o.CoreDNS)
	b.cni(o.NoCNI)
	b.manifests(o)
}

// component sets the image and the arguments of what a section of the v1alpha1 document
// is about.
func (b *optionBuilder) component(section string, c ComponentOptions) {
	b.text(b.at(section+".image"), c.Image)
	b.texts(b.at(section+".extraArgs"), c.ExtraArgs)
}

func (b kubernetesWriter) etcd(o EtcdOptions) {
	b.component("cluster.etcd", o.ComponentOptions)
	b.addAll(b.at("cluster.etcd.advertisedSubnets"), o.AdvertisedSubnets)
}

func (b kubernetesWriter) proxy(o ProxyOptions) {
	b.component("cluster.proxy", o.ComponentOptions)
	b.disable("cluster.proxy.disabled", o.Disabled)
	b.text(b.at("cluster.proxy.mode"), o.Mode)
	switch p := b.at("cluster.proxy.extraArgs"); {
	case o.MetricsAddress.Value == "":
	case p.moved(): // it is configured by a file, and heeds no such argument
		b.set(p.id, o.MetricsAddress.Pos, o.MetricsAddress.Value, "config", "metricsBindAddress")
	default:
		b.text(p, o.MetricsAddress, "metrics-bind-address")
	}
}

func (b kubernetesWriter) coreDNS(o CoreDNSOptions) {
	b.disable("cluster.coreDNS.disabled", o.Disabled)
	b.text(b.at("cluster.coreDNS.image"), o.Image)
}

// disable switches off what is `disabled` in the v1alpha1 document, and not `enabled`
// in a document of its own.
func (b kubernetesWriter) disable(path string, disabled Option) {
	if disabled.Value != "" {
		p := b.at(path)
		b.put(p, boolNode(!p.moved(), disabled.Pos))
	}
}

// cni leaves the pod network to others. In documents that is the absence of the one for
// Flannel.
func (b kubernetesWriter) cni(none Option) {
	switch p := b.at("cluster.network.cni"); {
	case none.Value == "":
	case p.moved():
		b.remove(p.id, none.Pos)
	default:
		b.text(p, Option{"none", none.Pos}, "name")
	}
}

// manifests are items of a list, or documents.
func (b kubernetesWriter) manifests(o KubernetesOptions) {
	for _, m := range o.InlineManifests {
		contents := stringNode(m.Source.Value, m.Source.Pos)
		if p := b.at("cluster.inlineManifests"); p.moved() {
			b.put(b.named(p.id.Kind, m.Name), contents, "manifest")
		} else {
			item := mappingNode(m.Name.Pos)
			put(item, "name", stringNode(m.Name.Value, m.Name.Pos))
			put(item, "contents", contents)
			b.append(p, item)
		}
	}
	for _, m := range o.RemoteManifests {
		url := stringNode(m.Source.Value, m.Source.Pos)
		if p := b.at("cluster.extraManifests"); p.moved() {
			b.put(b.named(p.id.Kind, m.Name), url, "url")
		} else {
			b.append(p, url)
		}
	}
}

// text sets a text; what has no value is left out.
func (b *optionBuilder) text(p place, o Option, path ...string) {
	if o.Value != "" {
		b.put(p, stringNode(o.Value, o.Pos), path...)
	}
}
