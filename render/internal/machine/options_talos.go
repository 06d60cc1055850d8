package machine

import (
	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// TalosOptions are the options of cluster.yaml for the operating system. What
// has no value is left to Talos.
type TalosOptions struct {
	CertSANs      []Option // names of the Talos API besides those that Talos knows
	Encryption    EncryptionOptions
	OpenVar       Option // "true", or no value: device files below /var
	KernelModules []KernelModule
	Sysctls       OptionMap
	UdevRules     []Option
	Nameservers   []Option
	TimeServers   []Option
	StaticHosts   []StaticHost
	TrustedRoots  []Manifest // Source holds the certificates, in PEM
	Registries    RegistryOptions
	Logs          []LogDestination
	Discovery     DiscoveryOptions
	KubeSpan      Option // "true", or no value
	KubePrism     KubePrismOptions
	HostDNS       HostDNSOptions
	APIAccess     *APIAccess // nil if pods do not reach the Talos API
	// KeepLayers, if it has a value, keeps the compressed layers of images.
	KeepLayers Option
}

// SecretOption is an option with a secret value, and where it is named.
type SecretOption struct {
	Value secret.String
	Pos   diag.Pos
}

// KernelModule is a kernel module to load.
type KernelModule struct {
	Name       Option
	Parameters []Option
}

// StaticHost gives an address names.
type StaticHost struct {
	Address Option
	Names   []Option
}

// LogDestination receives the logs of a node.
type LogDestination struct {
	Endpoint, Format Option
	ExtraTags        OptionMap
}

// DiscoveryOptions say how nodes find one another. Talos uses the service, and
// not Kubernetes.
type DiscoveryOptions struct {
	NoService  Option // "true", or no value
	Kubernetes Option // "true", or no value; up to contract 1.13 only
}

// KubePrismOptions are those of the way to the Kubernetes API on each node.
type KubePrismOptions struct {
	Disabled Option // "true", or no value
	Port     Option
}

// HostDNSOptions are those of the DNS cache on each node: "true" or "false".
type HostDNSOptions struct {
	Enabled, ForwardKubeDNSToHost, ResolveMemberNames Option
}

// APIAccess lets pods use the Talos API.
type APIAccess struct {
	Enabled           Option
	Roles, Namespaces []Option
}

// talosWriter writes the options of the operating system.
type talosWriter struct{ *optionBuilder }

// talos sets the options of the operating system.
func (b talosWriter) talos() {
	o := b.options.Talos
	b.addAll(b.at("machine.certSANs"), o.CertSANs)
	b.encryption(o.Encryption)
	b.openVar(o.OpenVar)
	b.kernel(o)
	b.resolver(o)
	for _, r := range o.TrustedRoots {
		b.put(b.named("TrustedRootsConfig", r.Name), stringNode(r.Source.Value, r.Source.Pos), "certificates")
	}
	registryWriter(b).registries(o.Registries)
	b.logs(o.Logs)
	b.discovery(o.Discovery)
	b.kubePrism(o.KubePrism)
	b.apiAccess(o.APIAccess)
	b.layers(o.KeepLayers)
}

// kernel sets modules and parameters.
func (b talosWriter) kernel(o TalosOptions) {
	b.texts(b.at("machine.sysctls"), o.Sysctls)
	b.addAll(b.at("machine.udev.rules"), o.UdevRules)
	for _, m := range o.KernelModules {
		p := b.at("machine.kernel.modules")
		if p.moved() {
			b.addAll(place{b.named(p.id.Kind, m.Name).id, p.path}, m.Parameters)
			continue
		}
		item := mappingNode(m.Name.Pos)
		put(item, "name", stringNode(m.Name.Value, m.Name.Pos))
		if len(m.Parameters) > 0 {
			put(item, "parameters", stringNodes(m.Parameters))
		}
		b.append(p, item)
	}
}

func (b talosWriter) logs(destinations []LogDestination) {
	for _, d := range destinations {
		item := mappingNode(d.Endpoint.Pos)
		put(item, "endpoint", stringNode(d.Endpoint.Value, d.Endpoint.Pos))
		put(item, "format", stringNode(d.Format.Value, d.Format.Pos))
		if len(d.ExtraTags) > 0 {
			tags := mappingNode(d.Endpoint.Pos)
			for _, key := range sortedKeys(d.ExtraTags) {
				put(tags, key, stringNode(d.ExtraTags[key].Value, d.ExtraTags[key].Pos))
			}
			put(item, "extraTags", tags)
		}
		b.append(b.at("machine.logging.destinations"), item)
	}
}

// discovery: in documents without Kubernetes, and each service one.
func (b talosWriter) discovery(o DiscoveryOptions) {
	p := b.at("cluster.discovery")
	switch {
	case o.NoService.Value == "":
	case p.moved():
		b.remove(p.id, o.NoService.Pos)
	default:
		b.put(p, boolNode(true, o.NoService.Pos), "registries", "service", "disabled")
	}
	switch {
	case o.Kubernetes.Value == "":
	case p.moved():
		b.problems.Add(diag.New(o.Kubernetes.Pos, "nodes cannot find one another by Kubernetes at this contract").
			WithHint("use the discovery service, or set talos.configContract to v1.13"))
	default:
		b.put(p, boolNode(false, o.Kubernetes.Pos), "registries", "kubernetes", "disabled")
	}
}

// kubePrism: its document is there, or not.
func (b talosWriter) kubePrism(o KubePrismOptions) {
	p := b.at("machine.features.kubePrism")
	if p.moved() {
		p.path = nil // which is its port
	}
	switch {
	case o.Disabled.Value == "":
		b.number(p, o.Port, "port")
	case p.moved():
		b.remove(p.id, o.Disabled.Pos)
	default:
		b.put(p, boolNode(false, o.Disabled.Pos), "enabled")
	}
}

// apiAccess is for control planes only: it is they who hold the keys.
func (b talosWriter) apiAccess(o *APIAccess) {
	if o == nil || b.role != ControlPlane {
		return
	}
	p := b.at("machine.features.kubernetesTalosAPIAccess")
	if !p.moved() {
		b.put(p, boolNode(true, o.Enabled.Pos), "enabled")
	}
	b.addAll(p, o.Roles, "allowedRoles")
	b.addAll(p, o.Namespaces, "allowedKubernetesNamespaces")
}

// keepLayers is a part of the configuration of containerd, whose plugin has the
// name of containerd 2, that is Talos 1.9.
const (
	keepLayers       = "[plugins.\"io.containerd.cri.v1.images\"]\n  discard_unpacked_layers = false\n"
	keepLayersBefore = "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\n  discard_unpacked_layers = false\n"
)

// layers keeps the compressed layers of images, which Talos' own configuration
// of containerd discards.
func (b talosWriter) layers(keep Option) {
	const name = "20-customization"
	if keep.Value == "" {
		return
	}
	content := keepLayers
	if talosconfig.TalosVersion1_9.Greater(b.vc) {
		content = keepLayersBefore
	}
	files := b.at("machine.files")
	if files.moved() {
		b.set(ID{mainKind, "CRICustomizationConfig", name}, keep.Pos, content, "content")
		return
	}
	item := mappingNode(keep.Pos)
	put(item, "content", stringNode(content, keep.Pos))
	put(item, "permissions", intNode(0o644, keep.Pos))
	put(item, "path", stringNode("/etc/cri/conf.d/"+name+".part", keep.Pos))
	put(item, "op", stringNode("create", keep.Pos))
	b.append(files, item)
}

// addAll appends texts to the list at a path below a place.
func (b *optionBuilder) addAll(p place, items []Option, path ...string) {
	for _, item := range items {
		b.append(p, stringNode(item.Value, item.Pos), path...)
	}
}
