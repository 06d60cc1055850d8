package machine

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// tree is a mapping as it stands in cluster.yaml, from a line on.
func tree(t *testing.T, text string, line int) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(strings.Repeat("\n", line-1)+text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

func kubeOptions(o KubernetesOptions) NodeOptions { return NodeOptions{Kubernetes: o} }

var (
	onControlPlanes = []Role{ControlPlane}
	component       = ComponentOptions{Image: at("registry.example.com/x:v1.36.3", 1), ExtraArgs: OptionMap{"v": at("3", 2), "profiling": at("false", 3)}}
)

// componentCase is the image and the arguments of a component of the control
// plane.
func componentCase(name string, o KubernetesOptions, section, document string) []optionCase {
	args := "{v: '3', profiling: 'false'}"
	return []optionCase{
		{name + " image", kubeOptions(o), onControlPlanes, map[string][3]string{
			"v1.9":  {"v1alpha1", section + ".image", "registry.example.com/x:v1.36.3"},
			"v1.14": {document, "image", "registry.example.com/x:v1.36.3"},
		}},
		{name + " arguments", kubeOptions(o), onControlPlanes, map[string][3]string{
			"v1.9":  {"v1alpha1", section + ".extraArgs", args},
			"v1.14": {document, "extraArgs", args},
		}},
	}
}

func kubeOptionCases(t *testing.T) []optionCase {
	return slices.Concat(
		componentCase("API server", KubernetesOptions{APIServer: component}, "cluster.apiServer", "KubeAPIServerConfig"),
		componentCase("controller manager", KubernetesOptions{ControllerManager: component}, "cluster.controllerManager", "KubeControllerManagerConfig"),
		componentCase("scheduler", KubernetesOptions{Scheduler: component}, "cluster.scheduler", "KubeSchedulerConfig"),
		controlPlaneCases, proxyCases, apiServerCases, kubeletCases(t),
	)
}

var controlPlaneCases = []optionCase{
	{"etcd", kubeOptions(KubernetesOptions{Etcd: EtcdOptions{component, []Option{at("10.0.64.0/19", 1), at("fd00::/64", 2)}}}), onControlPlanes, map[string][3]string{
		"v1.9": {"v1alpha1", "cluster.etcd.extraArgs", "{v: '3', profiling: 'false'}"},
	}},
	{"etcd image", kubeOptions(KubernetesOptions{Etcd: EtcdOptions{ComponentOptions: component}}), onControlPlanes, map[string][3]string{
		"v1.9": {"v1alpha1", "cluster.etcd.image", "registry.example.com/x:v1.36.3"},
	}},
	{"etcd subnets", kubeOptions(KubernetesOptions{Etcd: EtcdOptions{AdvertisedSubnets: []Option{at("10.0.64.0/19", 1), at("fd00::/64", 2)}}}), onControlPlanes, map[string][3]string{
		"v1.9": {"v1alpha1", "cluster.etcd.advertisedSubnets", "[10.0.64.0/19, 'fd00::/64']"},
	}},
	{"no CoreDNS", kubeOptions(KubernetesOptions{CoreDNS: CoreDNSOptions{Disabled: at("true", 1)}}), onControlPlanes, map[string][3]string{
		"v1.9":  {"v1alpha1", "cluster.coreDNS", "{disabled: true}"},
		"v1.14": {"KubeCoreDNSConfig", "enabled", "false"},
	}},
	{"CoreDNS image", kubeOptions(KubernetesOptions{CoreDNS: CoreDNSOptions{Image: at("registry.example.com/coredns:v1.13.1", 1)}}), onControlPlanes, map[string][3]string{
		"v1.9":  {"v1alpha1", "cluster.coreDNS.image", "registry.example.com/coredns:v1.13.1"},
		"v1.14": {"KubeCoreDNSConfig", "image", "registry.example.com/coredns:v1.13.1"},
	}},
	{"no CNI", kubeOptions(KubernetesOptions{NoCNI: at("cilium", 1)}), onControlPlanes, map[string][3]string{
		"v1.9":  {"v1alpha1", "cluster.network.cni", "{name: none}"},
		"v1.14": {"KubeFlannelCNIConfig", "", "null"},
	}},
	{"external cloud provider", kubeOptions(KubernetesOptions{ExternalCloudProvider: at("true", 1)}), nil, map[string][3]string{
		"v1.9": {"v1alpha1", "cluster.externalCloudProvider", "{enabled: true}"},
	}},
	{"inline manifest", kubeOptions(KubernetesOptions{InlineManifests: []Manifest{{at("web", 1), at("kind: Namespace\n", 1)}}}), onControlPlanes, map[string][3]string{
		"v1.9":  {"v1alpha1", "cluster.inlineManifests", `[{name: web, contents: "kind: Namespace\n"}]`},
		"v1.14": {"KubeInlineManifestConfig/web", "manifest", `"kind: Namespace\n"`},
	}},
	{"remote manifest", kubeOptions(KubernetesOptions{RemoteManifests: []Manifest{{at("crds", 1), at("https://example.com/crds.yaml", 1)}}}), onControlPlanes, map[string][3]string{
		"v1.9":  {"v1alpha1", "cluster.extraManifests", "['https://example.com/crds.yaml']"},
		"v1.14": {"KubeExternalManifestConfig/crds", "url", "https://example.com/crds.yaml"},
	}},
}

var proxyCases = []optionCase{
	{"no kube-proxy", kubeOptions(KubernetesOptions{Proxy: ProxyOptions{Disabled: at("true", 1)}}), onControlPlanes, map[string][3]string{
		"v1.9":  {"v1alpha1", "cluster.proxy.disabled", "true"},
		"v1.14": {"KubeProxyConfig", "enabled", "false"},
	}},
	{"kube-proxy mode", kubeOptions(KubernetesOptions{Proxy: ProxyOptions{Mode: at("nftables", 1)}}), onControlPlanes, map[string][3]string{
		"v1.9":  {"v1alpha1", "cluster.proxy.mode", "nftables"},
		"v1.14": {"KubeProxyConfig", "mode", "nftables"},
	}},
	{"kube-proxy image", kubeOptions(KubernetesOptions{Proxy: ProxyOptions{ComponentOptions: ComponentOptions{Image: component.Image}}}), onControlPlanes, map[string][3]string{
		"v1.9":  {"v1alpha1", "cluster.proxy.image", "registry.example.com/x:v1.36.3"},
		"v1.14": {"KubeProxyConfig", "image", "registry.example.com/x:v1.36.3"},
	}},
}

var login = OIDCOptions{
	IssuerURL: at("https://issuer.example.com", 1), ClientID: at("kubernetes", 2),
	UsernameClaim: at("email", 3), GroupsClaim: at("groups", 4), GroupsPrefix: at("oidc:", 5),
}

var apiServerCases = []optionCase{
	{"names of the API server", kubeOptions(KubernetesOptions{CertSANs: []Option{at("api.example.com", 1)}}), onControlPlanes, map[string][3]string{
		"v1.9":  {"v1alpha1", "cluster.apiServer.certSANs", "[10.0.0.1, api.example.com]"},
		"v1.12": {"v1alpha1", "cluster.apiServer.certSANs", "[api.example.com]"}, // Talos adds the endpoint itself
		"v1.14": {"KubeAPIServerConfig", "certExtraSANs", "[api.example.com]"},
	}},
	{"OIDC", kubeOptions(KubernetesOptions{OIDC: &login}), onControlPlanes, map[string][3]string{
		"v1.9": {"v1alpha1", "cluster.apiServer.extraArgs", "{oidc-issuer-url: 'https://issuer.example.com', oidc-client-id: kubernetes, " +
			"oidc-username-claim: email, oidc-username-prefix: '-', oidc-groups-claim: groups, oidc-groups-prefix: 'oidc:'}"},
		"v1.14": {"KubeAuthenticationConfig", "configuration", "{anonymous: {enabled: true, conditions: [{path: /livez}, {path: /readyz}, {path: /healthz}]}, " +
			"jwt: [{issuer: {url: 'https://issuer.example.com', audiences: [kubernetes]}, " +
			"claimMappings: {username: {claim: email, prefix: ''}, groups: {claim: groups, prefix: 'oidc:'}}}]}"},
	}},
}

func kubeletCases(t *testing.T) []optionCase {
	o := KubernetesOptions{Kubelet: KubeletOptions{
		ComponentOptions: component,
		Settings: []KubeletSetting{
			{[]string{"shutdownGracePeriod"}, at("90s", 1)},
			{[]string{"systemReserved", "cpu"}, at("100m", 2)},
			{[]string{"systemReserved", "memory"}, at("300Mi", 2)},
		},
		ExtraConfig: tree(t, "{maxPods: 200, systemReserved: {cpu: 200m}}", 3),
	}}
	mounts := KubernetesOptions{Kubelet: KubeletOptions{ExtraMounts: []KubeletMount{{
		at("/var/lib/a", 1), at("/var/lib/b", 2), at("bind", 3), []Option{at("bind", 4), at("rw", 5)},
	}}}}
	merged := "{maxPods: 200, shutdownGracePeriod: 90s, systemReserved: {cpu: 200m, memory: 300Mi}}"
	tainted := kubeOptions(KubernetesOptions{Kubelet: KubeletOptions{ExtraConfig: tree(t, "{registerWithTaints: [{key: b, effect: NoExecute}]}", 3)}})
	tainted.Taints = []NodeTaint{{Key: "a", Effect: "NoSchedule"}}
	taints := "[{key: a, effect: NoSchedule}, {key: b, effect: NoExecute}]"
	return []optionCase{
		{"kubelet image", kubeOptions(o), nil, map[string][3]string{
			"v1.9":  {"v1alpha1", "machine.kubelet.image", "registry.example.com/x:v1.36.3"},
			"v1.14": {"KubeletConfig", "image", "registry.example.com/x:v1.36.3"},
		}},
		{"kubelet arguments", kubeOptions(o), nil, map[string][3]string{
			"v1.9":  {"v1alpha1", "machine.kubelet.extraArgs", "{v: '3', profiling: 'false'}"},
			"v1.14": {"KubeletConfig", "extraArgs", "{v: '3', profiling: 'false'}"},
		}},
		{"kubelet configuration", kubeOptions(o), nil, map[string][3]string{
			"v1.9":  {"v1alpha1", "machine.kubelet.extraConfig", merged},
			"v1.14": {"KubeletConfig", "config", merged},
		}},
		{"taints of the kubelet's configuration", tainted, []Role{Worker}, map[string][3]string{
			"v1.9":  {"v1alpha1", "machine.kubelet.extraConfig.registerWithTaints", taints},
			"v1.14": {"KubeletConfig", "config.registerWithTaints", taints},
		}},
		{"kubelet mounts", kubeOptions(mounts), nil, map[string][3]string{
			"v1.9":  {"v1alpha1", "machine.kubelet.extraMounts", "[{source: /var/lib/a, destination: /var/lib/b, type: bind, options: [bind, rw]}]"},
			"v1.14": {}, // package config refuses them
		}},
	}
}

// TestKubernetesOptions: each option of Kubernetes arrives under every contract
// in the document that has a place for it, and Talos accepts the result.
func TestKubernetesOptions(t *testing.T) { runOptionCases(t, kubeOptionCases(t)) }

// TestAdmissionPlugins: a plugin's configuration takes the place of what Talos
// generates for it, and other plugins keep theirs.
func TestAdmissionPlugins(t *testing.T) {
	security, limit := "{kind: PodSecurityConfiguration, exemptions: {namespaces: [web]}}", "{kind: Configuration, limits: [{type: Server, qps: 5}]}"
	plugins := []AdmissionPlugin{
		{at("PodSecurity", 1), tree(t, security, 2)},
		{at("EventRateLimit", 4), tree(t, limit, 5)},
	}
	generated := "{apiVersion: pod-security.admission.config.k8s.io/v1alpha1, kind: PodSecurityConfiguration, " +
		"defaults: {enforce: baseline, enforce-version: latest, audit: restricted, audit-version: latest, warn: restricted, warn-version: latest}, " +
		"exemptions: {usernames: [], runtimeClasses: [], namespaces: [kube-system]}}"
	both, one := kubeOptions(KubernetesOptions{AdmissionPlugins: plugins}), kubeOptions(KubernetesOptions{AdmissionPlugins: plugins[1:]})
	list := func(podSecurity string) string {
		return "[{name: PodSecurity, configuration: " + podSecurity + "}, {name: EventRateLimit, configuration: " + limit + "}]"
	}
	runOptionCases(t, []optionCase{
		{"generated plugin", both, onControlPlanes, map[string][3]string{
			"v1.9":  {"v1alpha1", "cluster.apiServer.admissionControl", list(security)},
			"v1.14": {"KubeAdmissionControlConfig/PodSecurity", "configuration", security},
		}},
		{"another plugin", one, onControlPlanes, map[string][3]string{
			"v1.9":  {"v1alpha1", "cluster.apiServer.admissionControl", list(generated)},
			"v1.14": {"KubeAdmissionControlConfig/EventRateLimit", "configuration", limit},
		}},
		{"generated plugin beside another", one, onControlPlanes, map[string][3]string{
			"v1.14": {"KubeAdmissionControlConfig/PodSecurity", "configuration", generated},
		}},
	})
}

// TestProtectedKubeletSettings: what Talos does not let through is a problem at
// its line.
func TestProtectedKubeletSettings(t *testing.T) {
	o := kubeOptions(KubernetesOptions{Kubelet: KubeletOptions{ExtraConfig: tree(t, "{maxPods: 5, staticPodPath: /x}", 7)}})
	for _, contract := range contracts {
		_, err := OptionsPatch("cluster.yaml", o, Worker, contract)
		if err == nil || !strings.Contains(err.Error(), "cluster.yaml:7:14: staticPodPath of the kubelet's configuration is set by Talos") {
			t.Errorf("%s: error is %v", contract, err)
		}
	}
}

// TestWorkersHaveNoControlPlane: documents of the control plane do not come to
// workers, where Talos refuses them.
func TestWorkersHaveNoControlPlane(t *testing.T) {
	o := kubeOptions(KubernetesOptions{
		APIServer: component, ControllerManager: component, Scheduler: component, Etcd: EtcdOptions{ComponentOptions: component},
		Proxy: ProxyOptions{Disabled: at("true", 1)}, CoreDNS: CoreDNSOptions{Disabled: at("true", 1)}, NoCNI: at("none", 1),
		CertSANs: []Option{at("a.example.com", 1)}, OIDC: &login, InlineManifests: []Manifest{{at("a", 1), at("b", 1)}},
	})
	for _, contract := range contracts {
		if p, err := OptionsPatch("cluster.yaml", o, Worker, contract); p != nil || err != nil {
			t.Errorf("%s: %v, %v", contract, p, err)
		}
	}
}
