package machine

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// allKinds are the kinds of documents that the linked library knows, sorted. Its
// registry is internal; a test holds them to it.
var allKinds = []string{
	"BGPInstanceConfig", "BlackholeRouteConfig", "BondConfig", "BridgeConfig", "CRIBaseRuntimeSpecConfig",
	"CRICustomizationConfig", "ContainerConfig", "DHCPv4Config", "DHCPv6Config", "DiscoveryIdentityConfig",
	"DiscoveryServiceConfig", "DummyLinkConfig", "EnvironmentConfig", "EtcFileConfig", "EthernetConfig",
	"EventSinkConfig", "ExistingVolumeConfig", "ExtensionServiceConfig", "ExternalVolumeConfig",
	"FilesystemScrubConfig", "FilesystemTrimConfig", "HCloudVIPConfig", "HTTPProbeConfig", "HostnameConfig",
	"ImageCacheConfig", "ImageVerificationConfig", "KernelModuleConfig", "KmsgLogConfig",
	"KubeAPIServerCAConfig", "KubeAPIServerConfig", "KubeAdmissionControlConfig", "KubeAggregatorCAConfig",
	"KubeAuditPolicyConfig", "KubeAuthenticationConfig", "KubeAuthorizerConfig", "KubeClusterConfig",
	"KubeControllerManagerConfig", "KubeCoreDNSConfig", "KubeCredentialProviderConfig",
	"KubeEtcdEncryptionConfig", "KubeExternalManifestConfig", "KubeFlannelCNIConfig",
	"KubeInlineManifestConfig", "KubeNetworkConfig", "KubeNodeConfig", "KubePrismConfig", "KubeProxyConfig",
	"KubeSchedulerConfig", "KubeServiceAccountConfig", "KubeSpanConfig", "KubeSpanEndpointsConfig",
	"KubeStaticPodConfig", "KubeTalosAPIAccessConfig", "KubeletConfig", "LVMLogicalVolumeConfig",
	"LVMVolumeGroupConfig", "Layer2VIPConfig", "LinkAliasConfig", "LinkConfig", "NetworkDefaultActionConfig",
	"NetworkRuleConfig", "OOMConfig", "PCIDriverRebindConfig", "RAIDArrayConfig", "RawVolumeConfig",
	"RegistryAuthConfig", "RegistryMirrorConfig", "RegistryTLSConfig", "ResolverConfig", "RoutingRuleConfig",
	"SecurityProfileConfig", "SideroLinkConfig", "StaticHostConfig", "SwapVolumeConfig", "SysctlConfig",
	"SysfsConfig", "TCPProbeConfig", "TimeSyncConfig", "TrustedRootsConfig", "UdevRulesConfig",
	"UnattendedInstallConfig", "UserVolumeConfig", "VLANConfig", "VRFConfig", "VethConfig", "VolumeConfig",
	"WatchdogTimerConfig", "WireguardConfig", "ZswapConfig",
}

// nearKind returns the kind of which another is a misspelling: with a letter or
// two too many, too few or wrong, or in other capitals; "" if it is unlike all.
// What kinds have in common does not count.
func nearKind(kind string) string {
	if slices.Contains(allKinds, kind) {
		return "" // of another apiVersion
	}
	letters := 2
	if len(strings.TrimSuffix(kind, "Config")) < 6 {
		letters = 1
	}
	return diag.NearestWithin(kind, allKinds, letters)
}
