package nodeconfig

import "slices"

// Class says what it takes for a difference to be made.
type Class string

// The classes, from harmless to impossible.
const (
	// NoReboot: Talos does it while everything works.
	NoReboot Class = "no-reboot"
	// Restart: a part of the control plane, etcd or the container runtime
	// restarts; not on several control planes at once.
	Restart Class = "restart"
	// Reboot: it is so after a reboot only, or nobody knows better.
	Reboot Class = "reboot"
	// Upgrade: a version. The node keeps what it has; upgrade moves it.
	Upgrade Class = "upgrade"
	// Replacement: only a new node has it. This one keeps what it has.
	Replacement Class = "replacement"
	// Refused: apply does not do that to a living cluster.
	Refused Class = "refused"
)

var classes = []Class{NoReboot, Restart, Reboot, Upgrade, Replacement, Refused}

// Worse returns the class that disturbs more.
func Worse(a, b Class) Class {
	return classes[max(slices.Index(classes, a), slices.Index(classes, b))]
}

// Held reports whether a node keeps what it has.
func (c Class) Held() bool { return c == Upgrade || c == Replacement }

// rule says what differences in a place need.
type rule struct {
	place  place
	class  Class
	reason string
	only   condition
}

// condition is when a rule holds.
type condition byte

const (
	always   condition = iota
	existing           // the node has the document: with a new one it is as if it was new itself
	losing             // the node has a value there that goes or changes; to add one is fine
	section            // both have the section that the value is in
)

// Reasons that several rules share.
const (
	heldVersion = "the running version is held"
	oncePerDisk = "it is read when Talos is installed"
	encrypted   = "a volume is encrypted when it is made"
	identity    = "it is part of the identity of the cluster"
	ranges      = "pods and services live in these ranges"
	unreadable  = "what is encrypted with the old key could not be read any more"
	container   = "the container runtime restarts, and pods with it"
	component   = "its pod restarts"
	later       = "it takes effect with the next upgrade of Talos"
	upgraded    = "the node runs this version already"
)

// rules: the first that fits decides. What none fits is for [Reboot].
//
// The part about fields of v1alpha1 is the list of what Talos 1.13 accepts
// without a reboot (CanApplyImmediate); Talos 1.14 accepts everything, never
// reboots by itself, and leaves the rest without effect until somebody does.
var rules = slices.Concat(refusals, held, restarts, []rule{
	{place: place{"", "machine.install"}, class: NoReboot, reason: later},
	{place: place{"UnattendedInstallConfig", ""}, class: NoReboot, reason: later},
	{place: place{"", "machine.kernel.modules.parameters"}, class: Reboot, reason: "parameters are read when a module is loaded"},
	{place: place{"KernelModuleConfig", "parameters"}, class: Reboot, reason: "parameters are read when a module is loaded"},
	{place: place{"", "machine.registries.config.*.auth"}, class: Reboot, reason: "the container runtime reads credentials when it starts"},
	{place: place{"RegistryAuthConfig", ""}, class: Reboot, reason: "the container runtime reads credentials when it starts"},
}, harmlessFields, harmlessKinds)

// refusals are what would break a living cluster, or not be what it says.
var refusals = []rule{
	{place: place{"", "machine.type"}, class: Refused, reason: "a node does not change its role"},
	{place: place{"", "machine.ca"}, class: Refused, reason: identity},
	{place: place{"", "cluster.id"}, class: Refused, reason: identity},
	{place: place{"", "cluster.secret"}, class: Refused, reason: identity},
	{place: place{"", "cluster.ca"}, class: Refused, reason: identity},
	{place: place{"", "cluster.aggregatorCA"}, class: Refused, reason: identity},
	{place: place{"", "cluster.serviceAccount"}, class: Refused, reason: identity},
	{place: place{"", "cluster.etcd.ca"}, class: Refused, reason: identity},
	{place: place{"DiscoveryIdentityConfig", ""}, class: Refused, reason: identity},
	{place: place{"KubeAPIServerCAConfig", "issuingCA"}, class: Refused, reason: identity},
	{place: place{"KubeAggregatorCAConfig", "issuingCA"}, class: Refused, reason: identity},
	{place: place{"KubeServiceAccountConfig", "issuer.privateKey"}, class: Refused, reason: identity},
	{place: place{"", "cluster.secretboxEncryptionSecret"}, class: Refused, reason: unreadable, only: losing},
	{place: place{"", "cluster.aescbcEncryptionSecret"}, class: Refused, reason: unreadable, only: losing},
	{place: place{"KubeEtcdEncryptionConfig", ""}, class: Refused, reason: unreadable, only: losing},
	{place: place{"", "cluster.network.podSubnets"}, class: Refused, reason: ranges},
	{place: place{"", "cluster.network.serviceSubnets"}, class: Refused, reason: ranges},
	{place: place{"", "cluster.network.dnsDomain"}, class: Refused, reason: "names of services end with it"},
	{place: place{"KubeNetworkConfig", ""}, class: Refused, reason: ranges},
}

// held are places in which a node keeps what it has: versions, and what only a
// new node can have.
var held = []rule{
	{place: place{"", "machine.install.image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"", "machine.kubelet.image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"", "cluster.apiServer.image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"", "cluster.controllerManager.image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"", "cluster.scheduler.image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"", "cluster.proxy.image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"", "cluster.coreDNS.image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"", "cluster.etcd.image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"UnattendedInstallConfig", "installer.image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"KubeletConfig", "image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"KubeAPIServerConfig", "image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"KubeControllerManagerConfig", "image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"KubeSchedulerConfig", "image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"KubeProxyConfig", "image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"KubeCoreDNSConfig", "image"}, class: Upgrade, reason: heldVersion, only: section},
	{place: place{"", "machine.install.disk"}, class: Replacement, reason: oncePerDisk},
	{place: place{"", "machine.install.diskSelector"}, class: Replacement, reason: oncePerDisk},
	{place: place{"", "machine.install.wipe"}, class: Replacement, reason: oncePerDisk},
	{place: place{"UnattendedInstallConfig", "provisioning"}, class: Replacement, reason: oncePerDisk, only: existing},
	{place: place{"", "machine.systemDiskEncryption"}, class: Replacement, reason: encrypted},
	{place: place{"VolumeConfig", "encryption"}, class: Replacement, reason: encrypted},
	{place: place{"UserVolumeConfig", "encryption"}, class: Replacement, reason: encrypted, only: existing},
	{place: place{"RawVolumeConfig", "encryption"}, class: Replacement, reason: encrypted, only: existing},
	{place: place{"SwapVolumeConfig", "encryption"}, class: Replacement, reason: encrypted, only: existing},
}

// restarts are what takes a part of the control plane or all pods away for a
// moment.
var restarts = slices.Concat(
	of(Restart, component, fields("cluster.etcd", "cluster.apiServer", "cluster.controllerManager", "cluster.scheduler",
		"cluster.secretboxEncryptionSecret", "cluster.aescbcEncryptionSecret", "machine.controlPlane")),
	of(Restart, component, kinds("KubeAPIServerConfig", "KubeControllerManagerConfig", "KubeSchedulerConfig",
		"KubeAdmissionControlConfig", "KubeAuditPolicyConfig", "KubeAuthenticationConfig", "KubeAuthorizerConfig",
		"KubeEtcdEncryptionConfig", "KubeServiceAccountConfig", "KubeAPIServerCAConfig", "KubeAggregatorCAConfig")),
	of(Restart, container, kinds("CRIBaseRuntimeSpecConfig", "CRICustomizationConfig")),
)

var harmlessFields = of(NoReboot, "", fields("debug", "cluster", "machine.acceptedCAs", "machine.time", "machine.certSANs",
	"machine.token", "machine.network", "machine.sysfs", "machine.sysctls", "machine.logging", "machine.kubelet", "machine.kernel",
	"machine.registries", "machine.pods", "machine.seccompProfiles", "machine.nodeAnnotations", "machine.nodeLabels",
	"machine.nodeTaints", "machine.features.kubernetesTalosAPIAccess", "machine.features.kubePrism",
	"machine.features.hostDNS", "machine.features.imageCache", "machine.features.nodeAddressSortAlgorithm"))

// harmlessKinds are documents that controllers of Talos follow while it runs.
var harmlessKinds = of(NoReboot, "", kinds(
	"KubeClusterConfig", "KubeNodeConfig", "KubeletConfig", "KubePrismConfig", "KubeProxyConfig", "KubeCoreDNSConfig",
	"KubeFlannelCNIConfig", "KubeExternalManifestConfig", "KubeInlineManifestConfig", "KubeStaticPodConfig",
	"KubeTalosAPIAccessConfig", "KubeCredentialProviderConfig", "DiscoveryServiceConfig", "ResolverConfig", "HostnameConfig",
	"LinkConfig", "LinkAliasConfig", "BondConfig", "BridgeConfig", "VLANConfig", "VRFConfig", "VethConfig", "DummyLinkConfig",
	"EthernetConfig", "WireguardConfig", "DHCPv4Config", "DHCPv6Config", "StaticHostConfig", "BlackholeRouteConfig",
	"RoutingRuleConfig", "BGPInstanceConfig", "HCloudVIPConfig", "Layer2VIPConfig", "KubeSpanConfig", "KubeSpanEndpointsConfig",
	"NetworkDefaultActionConfig", "NetworkRuleConfig", "TimeSyncConfig", "TCPProbeConfig", "HTTPProbeConfig",
	"RegistryMirrorConfig", "RegistryTLSConfig", "ImageVerificationConfig", "TrustedRootsConfig", "SysctlConfig", "SysfsConfig",
	"KernelModuleConfig", "KmsgLogConfig", "EventSinkConfig", "WatchdogTimerConfig", "OOMConfig", "ExtensionServiceConfig",
	"ContainerConfig", "UserVolumeConfig", "RawVolumeConfig", "SwapVolumeConfig", "ExistingVolumeConfig", "ExternalVolumeConfig",
	"ZswapConfig", "FilesystemTrimConfig", "FilesystemScrubConfig", "ImageCacheConfig"))

func fields(keys ...string) (places []place) {
	for _, k := range keys {
		places = append(places, place{"", k})
	}
	return places
}

func kinds(names ...string) (places []place) {
	for _, k := range names {
		places = append(places, place{k, ""})
	}
	return places
}

func of(class Class, reason string, places []place) (rules []rule) {
	for _, p := range places {
		rules = append(rules, rule{place: p, class: class, reason: reason})
	}
	return rules
}
