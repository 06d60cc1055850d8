package ownership

import (
	"slices"

	"github.com/talosgen/talosgen/internal/manifest"
)

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
			return fromCluster(manifest.Section(d, "cluster"), manifest.Section(d, "machine"))
		}
	}
	return manifests{}
}

func fromCluster(cluster, machine map[string]any) manifests {
	cni := manifest.Section(cluster, "network", "cni")
	m := manifests{
		flannel: cni["name"] == nil || cni["name"] == "flannel",
		proxy:   manifest.Section(cluster, "proxy")["disabled"] != true,
		coreDNS: manifest.Section(cluster, "coreDNS")["disabled"] != true,
		access:  manifest.Section(machine, "features", "kubernetesTalosAPIAccess")["enabled"] == true,
	}
	if cni["name"] == "custom" {
		m.external = append(m.external, manifest.Texts(cni["urls"])...)
	}
	m.external = append(m.external, manifest.Texts(cluster["extraManifests"])...)
	if external := manifest.Section(cluster, "externalCloudProvider"); external["enabled"] == true {
		m.external = append(m.external, manifest.Texts(external["manifests"])...)
	}
	list, _ := cluster["inlineManifests"].([]any)
	for _, item := range list {
		in, _ := item.(map[string]any)
		m.inline = append(m.inline, named{manifest.Text(in["name"]), manifest.Text(in["contents"])})
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
			m.inline = append(m.inline, named{manifest.Text(d["name"]), manifest.Text(d["manifest"])})
		case "KubeExternalManifestConfig":
			m.external = append(m.external, manifest.Text(d["url"]))
		}
	}
	return m
}
