package legacy

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// certificate64 stands in the cases for a certificate in base64.
const certificate64 = "CERTIFICATE"

// homeCase is a legacy patch for one row of the table, and what must be in the
// configuration once its conversion is applied.
type homeCase struct {
	path  string
	patch string
	want  []string
	// controlPlane limits the case to control planes: for fields that Talos
	// never took on workers.
	controlPlane bool
}

var homeCases = []homeCase{
	{path: "cluster.id", patch: "cluster: {id: abc}", want: []string{"DiscoveryIdentityConfig|clusterID=abc"}},
	{path: "cluster.secret", patch: "cluster: {secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}", want: []string{"DiscoveryIdentityConfig|clusterSecret=AAECAwQF"}},
	{path: "cluster.clusterName", patch: "cluster: {clusterName: other}", want: []string{"KubeClusterConfig|clusterName=other"}},
	{path: "cluster.controlPlane", patch: "cluster: {controlPlane: {}}", want: []string{"KubeClusterConfig|clusterName=test"}},
	{path: "cluster.controlPlane.endpoint", patch: "cluster: {controlPlane: {endpoint: 'https://k:6443'}}", want: []string{"KubeClusterConfig|endpoint=https://k:6443"}},
	{path: "cluster.controlPlane.localAPIServerPort", patch: "cluster: {controlPlane: {localAPIServerPort: 7000}}", want: []string{"KubeAPIServerConfig|apiPort=7000"}},
	{path: "cluster.network", patch: "cluster: {network: {}}", want: []string{"KubeNetworkConfig|dnsDomain=cluster.local"}},
	{path: "cluster.network.cni", patch: "cluster: {network: {cni: {name: none}}}", want: []string{"!KubeFlannelCNIConfig"}},
	{path: "cluster.network.cni", patch: "cluster: {network: {cni: {name: custom, urls: ['https://a/b.yaml', 'https://a/c.yaml']}}}",
		want: []string{"!KubeFlannelCNIConfig", "KubeExternalManifestConfig/custom-cni|url=https://a/b.yaml", "KubeExternalManifestConfig/custom-cni-2|url=https://a/c.yaml"}},
	{path: "cluster.network.cni", patch: "cluster: {network: {cni: {name: flannel, flannel: {extraArgs: [--iface=eth1], kubeNetworkPoliciesEnabled: true}}}}",
		want: []string{"KubeFlannelCNIConfig|extraArgs|-=--iface=eth1", "KubeFlannelCNIConfig|kubeNetworkPoliciesEnabled=true", "KubeFlannelCNIConfig|backendType=" + constants.FlannelDefaultBackend}},
	{path: "cluster.network.dnsDomain", patch: "cluster: {network: {dnsDomain: k8s.local}}", want: []string{"KubeNetworkConfig|dnsDomain=k8s.local"}},
	{path: "cluster.network.podSubnets", patch: "cluster: {network: {podSubnets: [10.1.0.0/16]}}", want: []string{"KubeNetworkConfig|podSubnets=10.1.0.0/16"}},
	{path: "cluster.network.serviceSubnets", patch: "cluster: {network: {serviceSubnets: [10.2.0.0/16]}}", want: []string{"KubeNetworkConfig|serviceSubnets=10.2.0.0/16"}},
	{path: "cluster.discovery", patch: "cluster: {discovery: {enabled: false}}", want: []string{"!DiscoveryServiceConfig/default"}},
	{path: "cluster.discovery", patch: "cluster: {discovery: {enabled: true, registries: {service: {disabled: true}}}}", want: []string{"!DiscoveryServiceConfig/default"}},
	{path: "cluster.discovery", patch: "cluster: {discovery: {enabled: true, registries: {kubernetes: {disabled: true}, service: {endpoint: 'https://d.example'}}}}",
		want: []string{"DiscoveryServiceConfig/default|endpoint=https://d.example"}},
	{path: "cluster.discovery", patch: "cluster: {discovery: {enabled: true}}", want: []string{"DiscoveryServiceConfig/default|endpoint=" + constants.DefaultDiscoveryServiceEndpoint}},
	{path: "cluster.allowSchedulingOnControlPlanes", patch: "cluster: {allowSchedulingOnControlPlanes: true}", want: []string{"!KubeNodeConfig|taints|" + constants.LabelNodeRoleControlPlane}},
	{path: "cluster.allowSchedulingOnMasters", patch: "cluster: {allowSchedulingOnMasters: true}", want: []string{"!KubeNodeConfig|taints|" + constants.LabelNodeRoleControlPlane}},
	{path: "cluster.allowSchedulingOnControlPlanes", patch: "cluster: {allowSchedulingOnControlPlanes: false}", controlPlane: true,
		want: []string{"KubeNodeConfig|taints|" + constants.LabelNodeRoleControlPlane + "=NoSchedule"}},
	{path: "cluster.coreDNS", patch: "cluster: {coreDNS: {}}"},
	{path: "cluster.coreDNS.disabled", patch: "cluster: {coreDNS: {disabled: true}}", want: []string{"KubeCoreDNSConfig|enabled=false"}},
	{path: "cluster.coreDNS.image", patch: "cluster: {coreDNS: {image: 'r/coredns:v1'}}", want: []string{"KubeCoreDNSConfig|image=r/coredns:v1"}},
	{path: "cluster.extraManifests", patch: "cluster: {extraManifests: ['https://a.example/v1/CRDs.yaml']}",
		want: []string{"KubeExternalManifestConfig/a-example-v1-crds|url=https://a.example/v1/CRDs.yaml"}},
	{path: "cluster.extraManifestHeaders", patch: "cluster: {extraManifestHeaders: {x: y}}"},
	{path: "cluster.inlineManifests", patch: "cluster: {inlineManifests: [{name: ns, contents: 'kind: Namespace'}]}", want: []string{"KubeInlineManifestConfig/ns|manifest=kind: Namespace"}},
	{path: "cluster.adminKubeconfig", patch: "cluster: {adminKubeconfig: {certLifetime: 1h}}"},
	{path: "cluster.etcd", patch: "cluster: {etcd: {extraArgs: {a: b}}}", controlPlane: true},
	{path: "cluster.externalCloudProvider", patch: "cluster: {externalCloudProvider: {enabled: true}}"},
	{path: "cluster.token", patch: "cluster: {token: abcdef.0123456789abcdef}"},
	{path: "cluster.ca", patch: "cluster: {ca: {crt: '" + certificate64 + "', key: ''}}"},
	{path: "cluster.acceptedCAs", patch: "cluster: {acceptedCAs: [{crt: '" + certificate64 + "'}]}", want: []string{"KubeAPIServerCAConfig|acceptedCAs|-=BEGIN CERTIFICATE"}},
	{path: "cluster.aggregatorCA", patch: "cluster: {aggregatorCA: {crt: '" + certificate64 + "', key: ''}}", controlPlane: true},
	{path: "cluster.serviceAccount", patch: "cluster: {serviceAccount: {key: '" + certificate64 + "'}}"},
	{path: "cluster.secretboxEncryptionSecret", patch: "cluster: {secretboxEncryptionSecret: c2VjcmV0}",
		want: []string{"KubeEtcdEncryptionConfig|config|resources=providers secretbox keys name key2 secret c2VjcmV0 identity"}},
	{path: "cluster.aescbcEncryptionSecret", patch: "cluster: {aescbcEncryptionSecret: c2VjcmV0}",
		want: []string{"KubeEtcdEncryptionConfig|config|resources=providers aescbc keys name key1 secret c2VjcmV0 identity"}},

	{path: "cluster.apiServer", patch: "cluster: {apiServer: {}}"},
	{path: "cluster.apiServer.image", patch: "cluster: {apiServer: {image: 'r/a:v1.37.0'}}", want: []string{"KubeAPIServerConfig|image=r/a:v1.37.0"}},
	{path: "cluster.apiServer.extraArgs", patch: "cluster: {apiServer: {extraArgs: {v: '4', authorization-mode: 'Node,RBAC'}}}",
		want: []string{"KubeAPIServerConfig|extraArgs|v=4", "!KubeAPIServerConfig|extraArgs|authorization-mode"}},
	{path: "cluster.apiServer.extraArgs", patch: "cluster: {apiServer: {extraArgs: {oidc-issuer-url: 'https://i', oidc-client-id: k, oidc-groups-claim: groups, oidc-required-claim: [a=b]}}}",
		want: []string{"KubeAuthenticationConfig|configuration|jwt|-|issuer=audiences k url https://i",
			"KubeAuthenticationConfig|configuration|jwt|-|claimMappings|username|prefix=https://i#",
			"KubeAuthenticationConfig|configuration|jwt|-|claimMappings|groups|claim=groups",
			"KubeAuthenticationConfig|configuration|jwt|-|claimValidationRules|-|requiredValue=b",
			"KubeAuthenticationConfig|configuration|anonymous|conditions|-|path=/healthz"}},
	{path: "cluster.apiServer.extraVolumes", patch: "cluster: {apiServer: {extraVolumes: [{hostPath: /a, mountPath: /a}]}}"},
	{path: "cluster.apiServer.env", patch: "cluster: {apiServer: {env: {A: b}}}", want: []string{"KubeAPIServerConfig|env|A=b"}},
	{path: "cluster.apiServer.certSANs", patch: "cluster: {apiServer: {certSANs: [k.example]}}", want: []string{"KubeAPIServerConfig|certExtraSANs|-=k.example"}},
	{path: "cluster.apiServer.resources", patch: "cluster: {apiServer: {resources: {requests: {cpu: 1}}}}", want: []string{"KubeAPIServerConfig|resources|requests|cpu=1"}},
	{path: "cluster.apiServer.disablePodSecurityPolicy", patch: "cluster: {apiServer: {disablePodSecurityPolicy: true}}"},
	{path: "cluster.apiServer.admissionControl", patch: "cluster: {apiServer: {admissionControl: [{name: PodSecurity, configuration: {defaults: {enforce: privileged}}}]}}",
		want: []string{"KubeAdmissionControlConfig/PodSecurity|configuration|defaults|enforce=privileged", "KubeAdmissionControlConfig/PodSecurity|configuration|defaults|warn=restricted"}},
	{path: "cluster.apiServer.admissionControl", patch: "cluster: {apiServer: {admissionControl: !delete {}}}", want: []string{"!KubeAdmissionControlConfig/PodSecurity"}},
	{path: "cluster.apiServer.auditPolicy", patch: "cluster: {apiServer: {auditPolicy: {apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: None}]}}}",
		want: []string{"KubeAuditPolicyConfig|configuration|rules|-|level=None"}},
	{path: "cluster.apiServer.authorizationConfig", patch: "cluster: {apiServer: {authorizationConfig: [{type: Node, name: Node}, {type: RBAC, name: x}, {type: Webhook, name: hook, webhook: {timeout: 3s}}]}}",
		want: []string{"KubeAuthorizerConfig/hook|webhook|timeout=3s", "KubeAuthorizerConfig/rbac|type=RBAC", "!KubeAuthorizerConfig/x"}},

	{path: "cluster.controllerManager", patch: "cluster: {controllerManager: {}}"},
	{path: "cluster.controllerManager.image", patch: "cluster: {controllerManager: {image: 'r/c:v1.37.0'}}", want: []string{"KubeControllerManagerConfig|image=r/c:v1.37.0"}},
	{path: "cluster.controllerManager.extraArgs", patch: "cluster: {controllerManager: {extraArgs: {bind-address: 0.0.0.0}}}", want: []string{"KubeControllerManagerConfig|extraArgs|bind-address=0.0.0.0"}},
	{path: "cluster.controllerManager.extraVolumes", patch: "cluster: {controllerManager: {extraVolumes: [{hostPath: /a, mountPath: /a}]}}"},
	{path: "cluster.controllerManager.env", patch: "cluster: {controllerManager: {env: {A: b}}}", want: []string{"KubeControllerManagerConfig|env|A=b"}},
	{path: "cluster.controllerManager.resources", patch: "cluster: {controllerManager: {resources: {limits: {memory: 1Gi}}}}", want: []string{"KubeControllerManagerConfig|resources|limits|memory=1Gi"}},
	{path: "cluster.scheduler", patch: "cluster: {scheduler: {}}"},
	{path: "cluster.scheduler.image", patch: "cluster: {scheduler: {image: 'r/s:v1.37.0'}}", want: []string{"KubeSchedulerConfig|image=r/s:v1.37.0"}},
	{path: "cluster.scheduler.extraArgs", patch: "cluster: {scheduler: {extraArgs: {v: '2'}}}", want: []string{"KubeSchedulerConfig|extraArgs|v=2"}},
	{path: "cluster.scheduler.extraVolumes", patch: "cluster: {scheduler: {extraVolumes: [{hostPath: /a, mountPath: /a}]}}"},
	{path: "cluster.scheduler.env", patch: "cluster: {scheduler: {env: {A: b}}}", want: []string{"KubeSchedulerConfig|env|A=b"}},
	{path: "cluster.scheduler.resources", patch: "cluster: {scheduler: {resources: {limits: {cpu: 2}}}}", want: []string{"KubeSchedulerConfig|resources|limits|cpu=2"}},
	{path: "cluster.scheduler.config", patch: "cluster: {scheduler: {config: {profiles: [{schedulerName: s}]}}}", want: []string{"KubeSchedulerConfig|config|profiles|-|schedulerName=s"}},
	{path: "cluster.proxy", patch: "cluster: {proxy: {}}"},
	{path: "cluster.proxy.disabled", patch: "cluster: {proxy: {disabled: true}}", want: []string{"KubeProxyConfig|enabled=false"}},
	{path: "cluster.proxy.image", patch: "cluster: {proxy: {image: 'r/p:v1.37.0'}}", want: []string{"KubeProxyConfig|image=r/p:v1.37.0"}},
	{path: "cluster.proxy.mode", patch: "cluster: {proxy: {mode: nftables}}", want: []string{"KubeProxyConfig|mode=nftables"}},
	{path: "cluster.proxy.extraArgs", patch: "cluster: {proxy: {extraArgs: {v: '3'}}}", want: []string{"KubeProxyConfig|extraArgs|v=3"}},

	{path: "machine.controlPlane.controllerManager", patch: "machine: {controlPlane: {controllerManager: {}}}"},
	{path: "machine.controlPlane.controllerManager.disabled", patch: "machine: {controlPlane: {controllerManager: {disabled: true}}}", want: []string{"KubeControllerManagerConfig|enabled=false"}},
	{path: "machine.controlPlane.scheduler", patch: "machine: {controlPlane: {scheduler: {}}}"},
	{path: "machine.controlPlane.scheduler.disabled", patch: "machine: {controlPlane: {scheduler: {disabled: false}}}", want: []string{"KubeSchedulerConfig|enabled=true"}},
	{path: "machine.nodeLabels", patch: "machine: {nodeLabels: {example.com/a: b}}", want: []string{"KubeNodeConfig|labels|example.com/a=b"}},
	{path: "machine.nodeAnnotations", patch: "machine: {nodeAnnotations: {example.com/a: b}}", want: []string{"KubeNodeConfig|annotations|example.com/a=b"}},
	{path: "machine.nodeTaints", patch: "machine: {nodeTaints: {example.com/a: 'b:NoSchedule'}}", want: []string{"KubeNodeConfig|taints|example.com/a=b:NoSchedule"}},
	{path: "machine.install", patch: "machine: {install: {disk: /dev/sda, image: 'i:v1', wipe: true}}",
		want: []string{`UnattendedInstallConfig|provisioning|diskSelector|match=disk.dev_path == "/dev/sda"`, "UnattendedInstallConfig|installer|image=i:v1", "UnattendedInstallConfig|provisioning|wipe=true"}},
	{path: "machine.install", patch: "machine: {install: {diskSelector: {size: '>= 100GB', model: WDC*, type: ssd}}}", want: []string{"UnattendedInstallConfig|provisioning|diskSelector|match=disk.size >= 100000000000u && glob"}},
	{path: "machine.files", patch: "machine: {files: [{path: /etc/cri/conf.d/20-customization.part, op: create, content: '[a]'}, {path: /etc/nfs.conf, op: create, permissions: 0o600, content: x}]}",
		want: []string{"CRICustomizationConfig/20-customization|content=[a]", "EtcFileConfig/nfs.conf|contents=x", "EtcFileConfig/nfs.conf|mode=0o600"}},
	{path: "machine.baseRuntimeSpecOverrides", patch: "machine: {baseRuntimeSpecOverrides: {process: {rlimits: []}}}", want: []string{"CRIBaseRuntimeSpecConfig|overrides|process"}},
	{path: "machine.acceptedCAs", patch: "machine: {acceptedCAs: [{crt: '" + certificate64 + "'}]}"},
	{path: "machine.ca", patch: "machine: {certSANs: [ca-is-like-this]}"},
	{path: "machine.certSANs", patch: "machine: {certSANs: [a.example]}"},
	{path: "machine.logging", patch: "machine: {logging: {destinations: [{endpoint: 'udp://1.2.3.4:5', format: json_lines}]}}"},
	{path: "machine.seccompProfiles", patch: "machine: {seccompProfiles: [{name: a.json, value: {defaultAction: SCMP_ACT_LOG}}]}"},
	{path: "machine.token", patch: "machine: {token: abc.def}"},
	{path: "machine.type", patch: "machine: {}"},

	{path: "machine.kubelet", patch: "machine: {kubelet: {}}"},
	{path: "machine.kubelet.image", patch: "machine: {kubelet: {image: 'r/k:v1.37.0'}}", want: []string{"KubeletConfig|image=r/k:v1.37.0"}},
	{path: "machine.kubelet.clusterDNS", patch: "machine: {kubelet: {clusterDNS: [169.254.20.10]}}", want: []string{"KubeletConfig|clusterDNS|-=169.254.20.10"}},
	{path: "machine.kubelet.extraArgs", patch: "machine: {kubelet: {extraArgs: {rotate-server-certificates: 'true'}}}", want: []string{"KubeletConfig|extraArgs|rotate-server-certificates=true"}},
	{path: "machine.kubelet.extraConfig", patch: "machine: {kubelet: {extraConfig: {maxPods: 250}}}", want: []string{"KubeletConfig|config|maxPods=250"}},
	{path: "machine.kubelet.defaultRuntimeSeccompProfileEnabled", patch: "machine: {kubelet: {defaultRuntimeSeccompProfileEnabled: false}}", want: []string{"KubeletConfig|defaultRuntimeSeccompProfileEnabled=false"}},
	{path: "machine.kubelet.extraMounts", patch: "machine: {kubelet: {extraMounts: [{destination: /a, source: /a, type: bind}]}}"},
	{path: "machine.kubelet.disableManifestsDirectory", patch: "machine: {kubelet: {disableManifestsDirectory: true}}", want: []string{"KubeletConfig|image"}},
	{path: "machine.kubelet.credentialProviderConfig", patch: "machine: {kubelet: {credentialProviderConfig: {providers: [{name: p}]}}}", want: []string{"KubeCredentialProviderConfig|configuration|providers|-|name=p"}},
	{path: "machine.kubelet.nodeIP", patch: "machine: {kubelet: {nodeIP: {validSubnets: [10.0.0.0/8]}}}", want: []string{"KubeNodeConfig|nodeIP|validSubnets|-=10.0.0.0/8"}},
	{path: "machine.kubelet.registerWithFQDN", patch: "machine: {kubelet: {registerWithFQDN: true}}", want: []string{"KubeNodeConfig|registerWithFQDN=true"}},
	{path: "machine.kubelet.skipNodeRegistration", patch: "machine: {kubelet: {skipNodeRegistration: true}}", want: []string{"KubeNodeConfig|skipNodeRegistration=true"}},

	{path: "machine.network.hostname", patch: "machine: {network: {hostname: n1}}", want: []string{"HostnameConfig|hostname=n1", "HostnameConfig|auto=off"}},
	{path: "machine.network.nameservers", patch: "machine: {network: {nameservers: [9.9.9.9]}}", want: []string{"ResolverConfig|nameservers|-|address=9.9.9.9"}},
	{path: "machine.network.searchDomains", patch: "machine: {network: {searchDomains: [a.example]}}", want: []string{"ResolverConfig|searchDomains|domains|-=a.example"}},
	{path: "machine.network.disableSearchDomain", patch: "machine: {network: {disableSearchDomain: true}}", want: []string{"ResolverConfig|searchDomains|disableDefault=true"}},
	{path: "machine.network.extraHostEntries", patch: "machine: {network: {extraHostEntries: [{ip: 10.0.0.9, aliases: [a, b]}]}}", want: []string{"StaticHostConfig/10.0.0.9|hostnames|-=b"}},
	{path: "machine.network.kubespan", patch: "machine: {network: {kubespan: {}}}"},
	{path: "machine.network.kubespan.enabled", patch: "machine: {network: {kubespan: {enabled: true}}}", want: []string{"KubeSpanConfig|enabled=true"}},
	{path: "machine.network.kubespan.advertiseKubernetesNetworks", patch: "machine: {network: {kubespan: {advertiseKubernetesNetworks: true}}}", want: []string{"KubeSpanConfig|advertiseKubernetesNetworks=true"}},
	{path: "machine.network.kubespan.allowDownPeerBypass", patch: "machine: {network: {kubespan: {allowDownPeerBypass: true}}}", want: []string{"KubeSpanConfig|allowDownPeerBypass=true"}},
	{path: "machine.network.kubespan.harvestExtraEndpoints", patch: "machine: {network: {kubespan: {harvestExtraEndpoints: true}}}", want: []string{"KubeSpanConfig|harvestExtraEndpoints=true"}},
	{path: "machine.network.kubespan.mtu", patch: "machine: {network: {kubespan: {mtu: 1400}}}", want: []string{"KubeSpanConfig|mtu=1400"}},
	{path: "machine.network.kubespan.filters", patch: "machine: {network: {kubespan: {filters: {endpoints: [0.0.0.0/0]}}}}", want: []string{"KubeSpanConfig|filters|endpoints|-=0.0.0.0/0"}},
	{path: "machine.network.interfaces", patch: "machine: {network: {interfaces: [{interface: eth0, dhcp: true}]}}"},

	{path: "machine.features.kubePrism", patch: "machine: {features: {kubePrism: {enabled: true, port: 7446}}}", want: []string{"KubePrismConfig|port=7446"}},
	{path: "machine.features.kubePrism", patch: "machine: {features: {kubePrism: {enabled: true}}}", want: []string{"KubePrismConfig|port=7445"}},
	{path: "machine.features.kubePrism", patch: "machine: {features: {kubePrism: {enabled: false}}}", want: []string{"!KubePrismConfig"}},
	{path: "machine.features.hostDNS", patch: "machine: {features: {hostDNS: {}}}"},
	{path: "machine.features.hostDNS.enabled", patch: "machine: {features: {hostDNS: {enabled: true}}}", want: []string{"ResolverConfig|hostDNS|enabled=true"}},
	{path: "machine.features.hostDNS.forwardKubeDNSToHost", patch: "machine: {features: {hostDNS: {enabled: true, forwardKubeDNSToHost: false}}}", want: []string{"ResolverConfig|hostDNS|forwardKubeDNSToHost=false"}},
	{path: "machine.features.hostDNS.resolveMemberNames", patch: "machine: {features: {hostDNS: {resolveMemberNames: true}}}", want: []string{"ResolverConfig|hostDNS|resolveMemberNames=true"}},
	{path: "machine.features.stableHostname", patch: "machine: {features: {stableHostname: true}}", want: []string{"HostnameConfig|auto=stable"}},
	{path: "machine.features.kubernetesTalosAPIAccess", patch: "machine: {features: {kubernetesTalosAPIAccess: {enabled: true, allowedRoles: ['os:reader'], allowedKubernetesNamespaces: [kube-system]}}}", controlPlane: true,
		want: []string{"KubeTalosAPIAccessConfig|allowedRoles|-=os:reader", "KubeTalosAPIAccessConfig|allowedKubernetesNamespaces|-=kube-system"}},
	{path: "machine.features.imageCache", patch: "machine: {features: {imageCache: {}}}"},
	{path: "machine.features.imageCache.localEnabled", patch: "machine: {features: {imageCache: {localEnabled: true}}}", want: []string{"ImageCacheConfig|local|enabled=true"}},
	{path: "machine.features.apidCheckExtKeyUsage", patch: "machine: {features: {apidCheckExtKeyUsage: true}}"},
	{path: "machine.features.diskQuotaSupport", patch: "machine: {features: {diskQuotaSupport: false}}"},
	{path: "machine.features.nodeAddressSortAlgorithm", patch: "machine: {features: {nodeAddressSortAlgorithm: v2}}"},
	{path: "machine.features.rbac", patch: "machine: {features: {rbac: true}}"},

	{path: "machine.time", patch: "machine: {time: {}}"},
	{path: "machine.time.disabled", patch: "machine: {time: {disabled: true}}", want: []string{"TimeSyncConfig|enabled=false"}},
	{path: "machine.time.servers", patch: "machine: {time: {servers: [t.example]}}", want: []string{"TimeSyncConfig|ntp|servers|-=t.example"}},
	{path: "machine.time.bootTimeout", patch: "machine: {time: {bootTimeout: 2m}}", want: []string{"TimeSyncConfig|bootTimeout=2m0s"}},
	{path: "machine.sysctls", patch: "machine: {sysctls: {net.core.somaxconn: '65535'}}", want: []string{"SysctlConfig|params|net.core.somaxconn=65535"}},
	{path: "machine.sysfs", patch: "machine: {sysfs: {a.b: c}}", want: []string{"SysfsConfig|params|a.b=c"}},
	{path: "machine.env", patch: "machine: {env: {http_proxy: 'http://p'}}", want: []string{"EnvironmentConfig|variables|http_proxy=http://p"}},
	{path: "machine.udev.rules", patch: "machine: {udev: {rules: ['SUBSYSTEM==\"x\"']}}", want: []string{"UdevRulesConfig|rules|-=SUBSYSTEM"}},
	{path: "machine.kernel.modules", patch: "machine: {kernel: {modules: [{name: br_netfilter}, {name: nvme, parameters: [a=b]}]}}", want: []string{"KernelModuleConfig/br_netfilter", "KernelModuleConfig/nvme|parameters|-=a=b"}},
	{path: "machine.pods", patch: "machine: {pods: [{apiVersion: v1, kind: Pod, metadata: {name: p1}}]}", want: []string{"KubeStaticPodConfig/p1|pod|kind=Pod"}},
	{path: "machine.registries.mirrors", patch: "machine: {registries: {mirrors: {docker.io: {endpoints: ['https://m'], overridePath: true, skipFallback: true}}}}",
		want: []string{"RegistryMirrorConfig/docker.io|endpoints|-|url=https://m", "RegistryMirrorConfig/docker.io|endpoints|-|overridePath=true", "RegistryMirrorConfig/docker.io|skipFallback=true"}},
	{path: "machine.registries.config", patch: "machine: {registries: {config: {r.example: {auth: {username: u, password: p}, tls: {ca: '" + certificate64 + "', insecureSkipVerify: false}}}}}",
		want: []string{"RegistryAuthConfig/r.example|password=p", "RegistryTLSConfig/r.example|ca=BEGIN CERTIFICATE"}},
	{path: "machine.systemDiskEncryption.state", patch: "machine: {systemDiskEncryption: {state: {provider: luks2, keys: [{slot: 0, nodeID: {}}]}}}", want: []string{"VolumeConfig/STATE|encryption|provider=luks2"}},
	{path: "machine.systemDiskEncryption.ephemeral", patch: "machine: {systemDiskEncryption: {ephemeral: {provider: luks2, keys: [{slot: 0, nodeID: {}}]}}}", want: []string{"VolumeConfig/EPHEMERAL|encryption|keys|-|slot=0"}},
	{path: "machine.disks", patch: "machine: {disks: [{device: /dev/sdb, partitions: [{mountpoint: /var/mnt/a}]}]}"},
}

// TestTableIsWhatTalosDoes holds every row against Talos' own validation: a
// legacy patch fails exactly where the table says so, and its conversion
// passes, with the value in place.
func TestTableIsWhatTalosDoes(t *testing.T) {
	rows := homes().rows
	for _, role := range []machine.Type{machine.TypeControlPlane, machine.TypeWorker} {
		base := bases()[role]
		if err := validate(base); err != nil {
			t.Fatal(err)
		}
		kinds := kindsOf(base)
		for _, tt := range homeCases {
			if tt.controlPlane && role == machine.TypeWorker {
				continue
			}
			name := tt.patch
			tt.patch = strings.ReplaceAll(tt.patch, certificate64, base64.StdEncoding.EncodeToString(certificate()))
			t.Run(role.String()+"/"+name, func(t *testing.T) {
				home := rows[tt.path]
				conflicts := slices.ContainsFunc(home.Conflicts, func(k string) bool { return k == Always || slices.Contains(kinds, k) })
				checkLegacy(t, role, tt, conflicts && !home.Ignored)
				checkConverted(t, role, tt, home, conflicts)
			})
		}
	}
}

// checkLegacy applies the patch as it is.
func checkLegacy(t *testing.T, role machine.Type, tt homeCase, fails bool) {
	t.Helper()
	cfg, err := apply(bases()[role], parse(t, tt.patch))
	if err == nil {
		err = validate(cfg)
	}
	if strings.Contains(tt.patch, "!delete") {
		return // nothing to delete is fine, and nothing happens
	}
	if (err != nil) != fails {
		t.Errorf("Talos says %v, but the table says conflict: %v", err, fails)
	}
}

// checkConverted applies the conversion, and what Conflicts says.
func checkConverted(t *testing.T, role machine.Type, tt homeCase, home *Home, conflicts bool) {
	t.Helper()
	base := bases()[role]
	kinds := kindsOf(base)
	problems := Conflicts("p.yaml", parse(t, tt.patch), Options{Kinds: kinds})
	if (len(problems) > 0) != conflicts {
		t.Errorf("Conflicts says %v, want a conflict: %v", problems, conflicts)
	}
	converted, refused := Convert("p.yaml", parse(t, tt.patch), Options{Kinds: kinds, All: true})
	if convertible := home.Advice == "" || home.convert != nil; convertible != (len(refused) == 0) {
		t.Fatalf("refused: %v", refused)
	}
	if len(refused) > 0 || home.Stays() && !conflicts {
		if got, want := encode(t, converted), encode(t, parse(t, tt.patch)); got != want {
			t.Errorf("changed to %s", got)
		}
		return
	}
	cfg, err := apply(base, converted)
	if err != nil {
		t.Fatalf("%v\n%s", err, encode(t, converted))
	}
	err = validate(cfg)
	if role == machine.TypeWorker && slices.ContainsFunc(kindsOf(cfg), ControlPlaneOnly) {
		if err == nil || !strings.Contains(err.Error(), "only allowed on control plane machines") {
			t.Errorf("a worker takes a control plane document: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, encode(t, converted))
	}
	for _, want := range tt.want {
		if document, _, _ := strings.Cut(strings.TrimPrefix(want, "!"), "|"); role == machine.TypeControlPlane || !ControlPlaneOnly(document) {
			holds(t, cfg, want)
		}
	}
}

func TestEveryRowHasACase(t *testing.T) {
	for _, home := range Homes() {
		if !slices.ContainsFunc(homeCases, func(c homeCase) bool { return c.path == home.Path }) {
			t.Errorf("no case for %s", home.Path)
		}
	}
}

func TestKindsAreWhatTalosGenerates(t *testing.T) {
	generated := kindsOf(bases()[machine.TypeControlPlane])
	for _, home := range Homes() {
		for _, kind := range append(home.Conflicts, home.Kind) {
			if got, want := slices.Contains(generatedKinds, kind), slices.Contains(generated, kind); got != want {
				t.Errorf("generated: %s is %v in the table, %v in fact", kind, got, want)
			}
		}
	}
}
