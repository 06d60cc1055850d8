package machine

import (
	"strconv"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// TalosOptions are the options of cluster.yaml for the operating system. What
// has no value is left to Talos.
type TalosOptions struct {
	CertSANs      []Option // names of the Talos API besides those that Talos knows
	Encryption    EncryptionOptions
	KernelModules []KernelModule
	Sysctls       OptionMap
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

// since tells whether the contract is that of a Talos version, or a newer one.
func (b *optionBuilder) since(v *talosconfig.VersionContract) bool { return !v.Greater(b.vc) }

// talosWriter writes the options of the operating system.
type talosWriter struct{ *optionBuilder }

// talos sets the options of the operating system.
func (b talosWriter) talos() {
	o := b.options.Talos
	for _, name := range o.CertSANs {
		b.add(MainID, stringNode(name.Value, name.Pos), "machine", "certSANs")
	}
	b.encryption(o.Encryption)
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

// kernel sets modules and parameters, in documents since 1.14.
func (b talosWriter) kernel(o TalosOptions) {
	sysctls := place{MainID, []string{"machine", "sysctls"}}
	if multiDocument(b.vc) {
		sysctls = place{kind("SysctlConfig"), []string{"params"}}
	}
	for _, name := range sortedKeys(o.Sysctls) {
		b.put(sysctls, stringNode(o.Sysctls[name].Value, o.Sysctls[name].Pos), name)
	}
	for _, m := range o.KernelModules {
		if multiDocument(b.vc) {
			b.addAll(b.named("KernelModuleConfig", m.Name), m.Parameters, "parameters")
			continue
		}
		item := mappingNode(m.Name.Pos)
		put(item, "name", stringNode(m.Name.Value, m.Name.Pos))
		if len(m.Parameters) > 0 {
			put(item, "parameters", stringNodes(m.Parameters))
		}
		b.add(MainID, item, "machine", "kernel", "modules")
	}
}

// logs have stayed in the v1alpha1 document.
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
		b.add(MainID, item, "machine", "logging", "destinations")
	}
}

// discovery: since 1.14 without Kubernetes, and each service a document.
func (b talosWriter) discovery(o DiscoveryOptions) {
	registries := place{MainID, []string{"cluster", "discovery", "registries"}}
	switch {
	case multiDocument(b.vc) && o.NoService.Value != "":
		b.remove(ID{mainKind, "DiscoveryServiceConfig", "default"}, o.NoService.Pos)
	case o.NoService.Value != "":
		b.put(registries, boolNode(true, o.NoService.Pos), "service", "disabled")
	}
	switch {
	case o.Kubernetes.Value == "":
	case multiDocument(b.vc):
		b.problems.Add(diag.New(o.Kubernetes.Pos, "nodes cannot find one another by Kubernetes at this contract").
			WithHint("use the discovery service, or set talos.configContract to v1.13"))
	default:
		b.put(registries, boolNode(false, o.Kubernetes.Pos), "kubernetes", "disabled")
	}
}

// kubePrism: at 1.14 the document is there, or not.
func (b talosWriter) kubePrism(o KubePrismOptions) {
	p := b.home("machine.features.kubePrism", "KubePrismConfig")
	switch {
	case o.Disabled.Value == "":
		if port, err := strconv.Atoi(o.Port.Value); err == nil {
			b.put(p, intNode(port, o.Port.Pos), "port")
		}
	case multiDocument(b.vc):
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
	p := b.home("machine.features.kubernetesTalosAPIAccess", "KubeTalosAPIAccessConfig")
	if p.id.IsMain() {
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
	if !b.since(talosconfig.TalosVersion1_9) {
		content = keepLayersBefore
	}
	if multiDocument(b.vc) {
		b.set(ID{mainKind, "CRICustomizationConfig", name}, keep.Pos, content, "content")
		return
	}
	item := mappingNode(keep.Pos)
	put(item, "content", stringNode(content, keep.Pos))
	put(item, "permissions", intNode(0o644, keep.Pos))
	put(item, "path", stringNode("/etc/cri/conf.d/"+name+".part", keep.Pos))
	put(item, "op", stringNode("create", keep.Pos))
	b.add(MainID, item, "machine", "files")
}

// addAll appends texts to the list at a path below a place.
func (b *optionBuilder) addAll(p place, items []Option, path ...string) {
	for _, item := range items {
		b.append(p, stringNode(item.Value, item.Pos), path...)
	}
}
