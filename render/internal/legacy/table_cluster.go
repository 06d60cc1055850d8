package legacy

// clusterHomes are the fields of v1alpha1.ClusterConfig.
func clusterHomes() []Home {
	homes := []Home{
		// cluster.DiscoveryIdentityConfigV1Alpha1
		{Path: "cluster.id", Kind: "DiscoveryIdentityConfig", Field: "clusterID", Conflicts: kinds("DiscoveryIdentityConfig")},
		{Path: "cluster.secret", Kind: "DiscoveryIdentityConfig", Field: "clusterSecret", Conflicts: kinds("DiscoveryIdentityConfig")},
		// k8s.KubeClusterConfigV1Alpha1; a section without endpoint is refused as
		// well (v1alpha1.ClusterConfig.Validate)
		{Path: "cluster.clusterName", Kind: "KubeClusterConfig", Field: "clusterName", Conflicts: kinds("KubeClusterConfig")},
		{Path: "cluster.controlPlane", Conflicts: kinds("KubeClusterConfig")},
		{Path: "cluster.controlPlane.endpoint", Kind: "KubeClusterConfig", Field: "endpoint"},
		{Path: "cluster.controlPlane.localAPIServerPort", Kind: "KubeAPIServerConfig", Field: "apiPort"},
		// k8s.KubeNetworkConfigV1Alpha1, k8s.KubeFlannelCNIConfigV1Alpha1
		{Path: "cluster.network", Conflicts: kinds("KubeNetworkConfig", "KubeFlannelCNIConfig")},
		{Path: "cluster.network.cni", Kind: "KubeFlannelCNIConfig", convert: convertCNI, deleted: defaultCNI},
		{Path: "cluster.network.dnsDomain", Kind: "KubeNetworkConfig", Field: "dnsDomain"},
		{Path: "cluster.network.podSubnets", Kind: "KubeNetworkConfig", Field: "podSubnets"},
		{Path: "cluster.network.serviceSubnets", Kind: "KubeNetworkConfig", Field: "serviceSubnets"},
		// cluster.DiscoveryServiceConfigV1Alpha1
		{Path: "cluster.discovery", Kind: "DiscoveryServiceConfig", Name: discoveryName, Conflicts: kinds("DiscoveryServiceConfig"), convert: convertDiscovery, deleted: deleteDocument},
		// k8s.KubeNodeConfigV1Alpha1
		{Path: "cluster.allowSchedulingOnControlPlanes", Kind: "KubeNodeConfig", Field: "taints", Conflicts: kinds("KubeNodeConfig"), convert: convertScheduling, deleted: refuseDelete},
		{Path: "cluster.allowSchedulingOnMasters", Kind: "KubeNodeConfig", Field: "taints", Conflicts: kinds("KubeNodeConfig"), convert: convertScheduling, deleted: refuseDelete},
		// k8s.KubeCoreDNSConfigV1Alpha1
		{Path: "cluster.coreDNS", Conflicts: kinds("KubeCoreDNSConfig")},
		{Path: "cluster.coreDNS.disabled", Kind: "KubeCoreDNSConfig", Field: "enabled", convert: convertDisabled},
		{Path: "cluster.coreDNS.image", Kind: "KubeCoreDNSConfig", Field: "image"},
		// k8s.KubeExternalManifestConfigV1Alpha1, k8s.KubeInlineManifestConfigV1Alpha1
		{Path: "cluster.extraManifests", Kind: "KubeExternalManifestConfig", convert: convertExtraManifests, deleted: refuseDelete},
		{Path: "cluster.extraManifestHeaders", Kind: "KubeExternalManifestConfig", Field: "headers", Advice: "repeat the headers in each KubeExternalManifestConfig document"},
		{Path: "cluster.inlineManifests", Kind: "KubeInlineManifestConfig", convert: convertInlineManifests, deleted: refuseDelete},
		// not deprecated
		{Path: "cluster.adminKubeconfig"},
		{Path: "cluster.etcd"},
		{Path: "cluster.externalCloudProvider"},
		{Path: "cluster.token"},
	}
	homes = append(homes, authorityHomes()...)
	homes = append(homes, apiServerHomes()...)
	return append(homes, podHomes()...)
}

// authorityHomes are certificates and keys. They belong to the secrets bundle,
// from which the new documents are generated; a patch is the wrong place.
func authorityHomes() []Home {
	const bundle = "it belongs in the environment's secrets, from which the document is generated (talosgen secrets edit)"
	return []Home{
		// k8s.KubeAPIServerCAConfigV1Alpha1: its conflict check looks at ca only
		{Path: "cluster.ca", Kind: "KubeAPIServerCAConfig", Field: "issuingCA", Conflicts: kinds("KubeAPIServerCAConfig"), Advice: bundle},
		{Path: "cluster.acceptedCAs", Kind: "KubeAPIServerCAConfig", Field: "acceptedCAs", Conflicts: kinds("KubeAPIServerCAConfig"), Ignored: true, convert: convertAcceptedCAs},
		// k8s.KubeAggregatorCAConfigV1Alpha1
		{Path: "cluster.aggregatorCA", Kind: "KubeAggregatorCAConfig", Field: "issuingCA", Conflicts: kinds("KubeAggregatorCAConfig"), Advice: bundle},
		// k8s.KubeServiceAccountConfigV1Alpha1; it needs the endpoint in the same
		// document, so a moved endpoint is enough for a refusal
		{Path: "cluster.serviceAccount", Kind: "KubeServiceAccountConfig", Field: "issuer", Conflicts: kinds("KubeServiceAccountConfig", "KubeClusterConfig"), Advice: bundle},
		// k8s.KubeEtcdEncryptionConfigV1Alpha1
		{Path: "cluster.secretboxEncryptionSecret", Kind: "KubeEtcdEncryptionConfig", Field: "config", Conflicts: kinds("KubeEtcdEncryptionConfig"), convert: convertEncryptionSecret, deleted: refuseDelete},
		{Path: "cluster.aescbcEncryptionSecret", Kind: "KubeEtcdEncryptionConfig", Field: "config", Conflicts: kinds("KubeEtcdEncryptionConfig"), convert: convertEncryptionSecret, deleted: refuseDelete},
	}
}

// apiServerHomes are the fields of v1alpha1.APIServerConfig.
func apiServerHomes() []Home {
	return []Home{
		// k8s.KubeAPIServerConfigV1Alpha1
		{Path: "cluster.apiServer", Conflicts: kinds("KubeAPIServerConfig")},
		{Path: "cluster.apiServer.image", Kind: "KubeAPIServerConfig", Field: "image"},
		{Path: "cluster.apiServer.extraArgs", Kind: "KubeAPIServerConfig", Field: "extraArgs", convert: convertAPIServerArgs},
		{Path: "cluster.apiServer.extraVolumes", Advice: noVolumes},
		{Path: "cluster.apiServer.env", Kind: "KubeAPIServerConfig", Field: "env"},
		{Path: "cluster.apiServer.certSANs", Kind: "KubeAPIServerConfig", Field: "certExtraSANs"},
		{Path: "cluster.apiServer.resources", Kind: "KubeAPIServerConfig", Field: "resources"},
		{Path: "cluster.apiServer.disablePodSecurityPolicy", Advice: "Kubernetes has no pod security policies since 1.25: remove the line"},
		// k8s.KubeAdmissionControlConfigV1Alpha1
		{Path: "cluster.apiServer.admissionControl", Kind: "KubeAdmissionControlConfig", Field: "configuration", convert: convertAdmission, deleted: deleteAdmission},
		// k8s.KubeAuditPolicyConfigV1Alpha1
		{Path: "cluster.apiServer.auditPolicy", Kind: "KubeAuditPolicyConfig", Field: "configuration", deleted: deleteDocument},
		// k8s.KubeAuthorizerConfigV1Alpha1 (its own conflict check tests
		// admissionControl; the section conflicts anyway)
		{Path: "cluster.apiServer.authorizationConfig", Kind: "KubeAuthorizerConfig", convert: convertAuthorizers, deleted: refuseDelete},
	}
}

// noVolumes is the advice for extra volumes of control plane pods.
const noVolumes = "Talos 1.14 mounts no extra volumes into the control plane's pods; " +
	"give what they need in documents (KubeAuthenticationConfig, KubeAuthorizerConfig, KubeAdmissionControlConfig), " +
	"or keep configContract at 1.13"

// podHomes are v1alpha1.ControllerManagerConfig, SchedulerConfig, ProxyConfig.
func podHomes() []Home {
	return []Home{
		// k8s.KubeControllerManagerConfigV1Alpha1
		{Path: "cluster.controllerManager", Conflicts: kinds("KubeControllerManagerConfig")},
		{Path: "cluster.controllerManager.image", Kind: "KubeControllerManagerConfig", Field: "image"},
		{Path: "cluster.controllerManager.extraArgs", Kind: "KubeControllerManagerConfig", Field: "extraArgs"},
		{Path: "cluster.controllerManager.extraVolumes", Advice: noVolumes},
		{Path: "cluster.controllerManager.env", Kind: "KubeControllerManagerConfig", Field: "env"},
		{Path: "cluster.controllerManager.resources", Kind: "KubeControllerManagerConfig", Field: "resources"},
		// k8s.KubeSchedulerConfigV1Alpha1
		{Path: "cluster.scheduler", Conflicts: kinds("KubeSchedulerConfig")},
		{Path: "cluster.scheduler.image", Kind: "KubeSchedulerConfig", Field: "image"},
		{Path: "cluster.scheduler.extraArgs", Kind: "KubeSchedulerConfig", Field: "extraArgs"},
		{Path: "cluster.scheduler.extraVolumes", Advice: noVolumes},
		{Path: "cluster.scheduler.env", Kind: "KubeSchedulerConfig", Field: "env"},
		{Path: "cluster.scheduler.resources", Kind: "KubeSchedulerConfig", Field: "resources"},
		{Path: "cluster.scheduler.config", Kind: "KubeSchedulerConfig", Field: "config"},
		// k8s.KubeProxyConfigV1Alpha1
		{Path: "cluster.proxy", Conflicts: kinds("KubeProxyConfig")},
		{Path: "cluster.proxy.disabled", Kind: "KubeProxyConfig", Field: "enabled", convert: convertDisabled},
		{Path: "cluster.proxy.image", Kind: "KubeProxyConfig", Field: "image"},
		{Path: "cluster.proxy.mode", Kind: "KubeProxyConfig", Field: "mode"},
		{Path: "cluster.proxy.extraArgs", Kind: "KubeProxyConfig", Field: "extraArgs"},
	}
}

// kinds spells the list of conflicting kinds of a row.
func kinds(names ...string) []string { return names }
