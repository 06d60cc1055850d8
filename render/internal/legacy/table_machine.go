package legacy

// machineHomes are the fields of v1alpha1.MachineConfig.
func machineHomes() []Home {
	homes := []Home{
		// k8s.KubeControllerManagerConfigV1Alpha1, k8s.KubeSchedulerConfigV1Alpha1
		{Path: "machine.controlPlane.controllerManager", Conflicts: kinds("KubeControllerManagerConfig")},
		{Path: "machine.controlPlane.controllerManager.disabled", Kind: "KubeControllerManagerConfig", Field: "enabled", convert: convertDisabled},
		{Path: "machine.controlPlane.scheduler", Conflicts: kinds("KubeSchedulerConfig")},
		{Path: "machine.controlPlane.scheduler.disabled", Kind: "KubeSchedulerConfig", Field: "enabled", convert: convertDisabled},
		// k8s.KubeNodeConfigV1Alpha1
		{Path: "machine.nodeLabels", Kind: "KubeNodeConfig", Field: "labels", Conflicts: kinds("KubeNodeConfig")},
		{Path: "machine.nodeAnnotations", Kind: "KubeNodeConfig", Field: "annotations", Conflicts: kinds("KubeNodeConfig")},
		{Path: "machine.nodeTaints", Kind: "KubeNodeConfig", Field: "taints", Conflicts: kinds("KubeNodeConfig")},
		// runtime.UnattendedInstallConfigV1Alpha1, generated with an install disk
		{Path: "machine.install", Kind: "UnattendedInstallConfig", Conflicts: kinds("UnattendedInstallConfig"), convert: convertInstall, deleted: deleteDocument},
		// deprecated with a warning, which strict validation refuses
		// (v1alpha1.Config.Validate); runtime.EtcFileConfigV1Alpha1,
		// cri.CRICustomizationConfigV1Alpha1, cri.CRIBaseRuntimeSpecConfigV1Alpha1
		{Path: "machine.files", Kind: "EtcFileConfig", Conflicts: kinds(Always), convert: convertFiles},
		{Path: "machine.baseRuntimeSpecOverrides", Kind: "CRIBaseRuntimeSpecConfig", Field: "overrides", Conflicts: kinds(Always)},
		// not deprecated
		{Path: "machine.acceptedCAs"},
		{Path: "machine.ca"},
		{Path: "machine.certSANs"},
		{Path: "machine.logging"},
		{Path: "machine.seccompProfiles"},
		{Path: "machine.token"},
		{Path: "machine.type"},
	}
	homes = append(homes, kubeletHomes()...)
	homes = append(homes, networkHomes()...)
	homes = append(homes, featureHomes()...)
	return append(homes, deprecatedHomes()...)
}

// kubeletHomes are the fields of v1alpha1.KubeletConfig.
func kubeletHomes() []Home {
	return []Home{
		// k8s.KubeletConfigV1Alpha1
		{Path: "machine.kubelet", Conflicts: kinds("KubeletConfig")},
		{Path: "machine.kubelet.image", Kind: "KubeletConfig", Field: "image"},
		{Path: "machine.kubelet.clusterDNS", Kind: "KubeletConfig", Field: "clusterDNS"},
		{Path: "machine.kubelet.extraArgs", Kind: "KubeletConfig", Field: "extraArgs"},
		{Path: "machine.kubelet.extraConfig", Kind: "KubeletConfig", Field: "config"},
		{Path: "machine.kubelet.defaultRuntimeSeccompProfileEnabled", Kind: "KubeletConfig", Field: "defaultRuntimeSeccompProfileEnabled"},
		{Path: "machine.kubelet.extraMounts", Advice: "Talos 1.14 gives the kubelet no extra mounts; " +
			"use a UserVolumeConfig (mounted at /var/mnt/<name>), or keep configContract at 1.13"},
		{Path: "machine.kubelet.disableManifestsDirectory", convert: convertManifestsDirectory,
			Advice: "Talos 1.14 reads no manifests directory; write each pod as a KubeStaticPodConfig document"},
		// k8s.KubeCredentialProviderConfigV1Alpha1
		{Path: "machine.kubelet.credentialProviderConfig", Kind: "KubeCredentialProviderConfig", Field: "configuration", deleted: deleteDocument},
		// k8s.KubeNodeConfigV1Alpha1
		{Path: "machine.kubelet.nodeIP", Kind: "KubeNodeConfig", Field: "nodeIP"},
		{Path: "machine.kubelet.registerWithFQDN", Kind: "KubeNodeConfig", Field: "registerWithFQDN"},
		{Path: "machine.kubelet.skipNodeRegistration", Kind: "KubeNodeConfig", Field: "skipNodeRegistration"},
	}
}

// networkHomes are the fields of v1alpha1.NetworkConfig.
func networkHomes() []Home {
	return []Home{
		// network.HostnameConfigV1Alpha1 (since contract 1.12)
		{Path: "machine.network.hostname", Kind: "HostnameConfig", Since: 12, Field: "hostname", Conflicts: kinds("HostnameConfig"), convert: convertHostname, deleted: deleteHostname},
		// network.ResolverConfigV1Alpha1
		{Path: "machine.network.nameservers", Kind: "ResolverConfig", Since: 12, Field: "nameservers", Conflicts: kinds("ResolverConfig"), convert: convertNameservers},
		{Path: "machine.network.searchDomains", Kind: "ResolverConfig", Since: 12, Field: "searchDomains.domains", Conflicts: kinds("ResolverConfig")},
		{Path: "machine.network.disableSearchDomain", Kind: "ResolverConfig", Since: 12, Field: "searchDomains.disableDefault", Conflicts: kinds("ResolverConfig"), whenTrue: true},
		// network.StaticHostConfigV1Alpha1
		{Path: "machine.network.extraHostEntries", Kind: "StaticHostConfig", Since: 12, Field: "hostnames", convert: convertHosts, deleted: refuseDelete},
		// network.KubeSpanConfigV1Alpha1, which no contract generates by itself
		{Path: "machine.network.kubespan", Conflicts: kinds("KubeSpanConfig")},
		{Path: "machine.network.kubespan.enabled", Kind: "KubeSpanConfig", Since: 13, Field: "enabled"},
		{Path: "machine.network.kubespan.advertiseKubernetesNetworks", Kind: "KubeSpanConfig", Since: 13, Field: "advertiseKubernetesNetworks"},
		{Path: "machine.network.kubespan.allowDownPeerBypass", Kind: "KubeSpanConfig", Since: 13, Field: "allowDownPeerBypass"},
		{Path: "machine.network.kubespan.harvestExtraEndpoints", Kind: "KubeSpanConfig", Since: 13, Field: "harvestExtraEndpoints"},
		{Path: "machine.network.kubespan.mtu", Kind: "KubeSpanConfig", Since: 13, Field: "mtu"},
		{Path: "machine.network.kubespan.filters", Kind: "KubeSpanConfig", Since: 13, Field: "filters"},
		{Path: "machine.network.interfaces", Kind: "LinkConfig", Since: 12, Advice: "write the links by hand: LinkConfig, DHCPv4Config, VLANConfig, BondConfig, " +
			"Layer2VIPConfig and their like hold one interface each"},
	}
}

// featureHomes are the fields of v1alpha1.FeaturesConfig.
func featureHomes() []Home {
	return []Home{
		// k8s.KubePrismConfigV1Alpha1
		{Path: "machine.features.kubePrism", Kind: "KubePrismConfig", Field: "port", Conflicts: kinds("KubePrismConfig"), convert: convertKubePrism, deleted: deleteDocument},
		// network.ResolverConfigV1Alpha1
		{Path: "machine.features.hostDNS", Kind: "ResolverConfig", Field: "hostDNS", Conflicts: kinds("ResolverConfig")},
		{Path: "machine.features.hostDNS.enabled", Kind: "ResolverConfig", Field: "hostDNS.enabled"},
		{Path: "machine.features.hostDNS.forwardKubeDNSToHost", Kind: "ResolverConfig", Field: "hostDNS.forwardKubeDNSToHost"},
		{Path: "machine.features.hostDNS.resolveMemberNames", Kind: "ResolverConfig", Field: "hostDNS.resolveMemberNames"},
		// network.HostnameConfigV1Alpha1
		{Path: "machine.features.stableHostname", Kind: "HostnameConfig", Field: "auto", Conflicts: kinds("HostnameConfig"), whenTrue: true, convert: convertStableHostname, deleted: refuseDelete},
		// k8s.KubeTalosAPIAccessConfigV1Alpha1
		{Path: "machine.features.kubernetesTalosAPIAccess", Kind: "KubeTalosAPIAccessConfig", Conflicts: kinds("KubeTalosAPIAccessConfig"), convert: convertAPIAccess, deleted: deleteDocument},
		// cri.ImageCacheConfigV1Alpha1
		{Path: "machine.features.imageCache", Conflicts: kinds("ImageCacheConfig")},
		{Path: "machine.features.imageCache.localEnabled", Kind: "ImageCacheConfig", Field: "local.enabled"},
		// not deprecated, or without effect
		{Path: "machine.features.apidCheckExtKeyUsage"},
		{Path: "machine.features.diskQuotaSupport"},
		{Path: "machine.features.nodeAddressSortAlgorithm"},
		{Path: "machine.features.rbac"},
	}
}

// deprecatedHomes are fields that Talos 1.14 still reads beside its generated
// documents.
func deprecatedHomes() []Home {
	return []Home{
		// network.TimeSyncConfigV1Alpha1
		{Path: "machine.time", Conflicts: kinds("TimeSyncConfig")},
		{Path: "machine.time.disabled", Kind: "TimeSyncConfig", Since: 12, Field: "enabled", convert: convertDisabled},
		{Path: "machine.time.servers", Kind: "TimeSyncConfig", Since: 12, Field: "ntp.servers"},
		{Path: "machine.time.bootTimeout", Kind: "TimeSyncConfig", Since: 12, Field: "bootTimeout"},
		// runtime.SysctlConfigV1Alpha1 and its neighbours
		{Path: "machine.sysctls", Kind: "SysctlConfig", Field: "params"},
		{Path: "machine.sysfs", Kind: "SysfsConfig", Field: "params"},
		{Path: "machine.env", Kind: "EnvironmentConfig", Field: "variables"},
		{Path: "machine.udev.rules", Kind: "UdevRulesConfig", Field: "rules"},
		{Path: "machine.kernel.modules", Kind: "KernelModuleConfig", Field: "parameters", convert: convertModules, deleted: refuseDelete},
		// k8s.KubeStaticPodConfigV1Alpha1
		{Path: "machine.pods", Kind: "KubeStaticPodConfig", Field: "pod", convert: convertPods, deleted: refuseDelete},
		// cri.RegistryMirrorConfigV1Alpha1, RegistryAuthConfigV1Alpha1, RegistryTLSConfigV1Alpha1
		{Path: "machine.registries.mirrors", Kind: "RegistryMirrorConfig", Since: 12, Field: "endpoints", convert: convertMirrors, deleted: refuseDelete},
		{Path: "machine.registries.config", Kind: "RegistryAuthConfig", Since: 12, convert: convertRegistries, deleted: refuseDelete},
		// block.VolumeConfigV1Alpha1, block.UserVolumeConfigV1Alpha1
		{Path: "machine.systemDiskEncryption.state", Kind: "VolumeConfig", Since: 11, Name: "STATE", Field: "encryption"},
		{Path: "machine.systemDiskEncryption.ephemeral", Kind: "VolumeConfig", Since: 11, Name: "EPHEMERAL", Field: "encryption"},
		{Path: "machine.disks", Kind: "UserVolumeConfig", Advice: "a UserVolumeConfig is mounted at /var/mnt/<name> and formats a disk of its own choice: " +
			"write one by hand and move the data"},
	}
}
