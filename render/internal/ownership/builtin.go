package ownership

import "slices"

// manifests are those that Talos applies, by its configuration.
type manifests struct {
	flannel, proxy, coreDNS, access bool
	inline                          []named
	external                        []string
}

type named struct{ name, text string }

// builtin reads which manifests Talos applies. Up to contract 1.13 all of it is
// in cluster:, where what is absent is on; from 1.14 on it is in documents of
// their own, and what is absent is off.
func builtin(documents []map[string]any) manifests {
	if slices.ContainsFunc(documents, func(d map[string]any) bool { return d["kind"] == "KubeClusterConfig" }) {
		return fromDocuments(documents)
	}
	for _, d := range documents {
		if _, other := d["kind"]; !other {
			return fromCluster(section(d, "cluster"), section(d, "machine"))
		}
	}
	return manifests{}
}

func fromCluster(cluster, machine map[string]any) manifests {
	cni := section(cluster, "network", "cni")
	m := manifests{
		flannel: cni["name"] == nil || cni["name"] == "flannel",
		proxy:   section(cluster, "proxy")["disabled"] != true,
		coreDNS: section(cluster, "coreDNS")["disabled"] != true,
		access:  section(machine, "features", "kubernetesTalosAPIAccess")["enabled"] == true,
	}
	if cni["name"] == "custom" {
		m.external = append(m.external, texts(cni["urls"])...)
	}
	m.external = append(m.external, texts(cluster["extraManifests"])...)
	if external := section(cluster, "externalCloudProvider"); external["enabled"] == true {
		m.external = append(m.external, texts(external["manifests"])...)
	}
	list, _ := cluster["inlineManifests"].([]any)
	for _, item := range list {
		in, _ := item.(map[string]any)
		m.inline = append(m.inline, named{text(in["name"]), text(in["contents"])})
	}
	return m
}

func fromDocuments(documents []map[string]any) (m manifests) {
	for _, d := range documents {
		switch d["kind"] {
		case "KubeFlannelCNIConfig":
			m.flannel = true
		case "KubeProxyConfig":
			m.proxy = d["enabled"] != false
		case "KubeCoreDNSConfig":
			m.coreDNS = d["enabled"] != false
		case "KubeTalosAPIAccessConfig":
			m.access = true
		case "KubeInlineManifestConfig":
			m.inline = append(m.inline, named{text(d["name"]), text(d["manifest"])})
		case "KubeExternalManifestConfig":
			m.external = append(m.external, text(d["url"]))
		}
	}
	return m
}

// section follows keys through maps; nil where there is nothing.
func section(m map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		m, _ = m[key].(map[string]any)
	}
	return m
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func texts(v any) (all []string) {
	list, _ := v.([]any)
	for _, item := range list {
		all = append(all, text(item))
	}
	return all
}
