package legacy

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"
)

// What Talos generates, in the terms of the new documents.
const (
	flannelBackend    = "vxlan"                        // constants.FlannelDefaultBackend
	flannelPort       = "4789"                         // constants.FlannelDefaultBackendPort
	discoveryName     = "default"                      // generate.Input.init
	discoveryEndpoint = "https://discovery.talos.dev/" // constants.DefaultDiscoveryServiceEndpoint
	controlPlaneTaint = "node-role.kubernetes.io/control-plane"
)

// convertCNI turns the choice of a CNI into the presence of documents.
func convertCNI(c *conversion, f field) bool {
	if !isMapping(f.value) {
		return c.refuseShape(f, "a mapping")
	}
	flannel, hasFlannel := f.sub("flannel")
	if hasFlannel && (!isMapping(flannel.value) || isDelete(flannel.value)) {
		c.refuseShape(flannel, "a mapping")
		return f.back(flannel)
	}
	if name, ok := f.sub("name"); ok && !c.cniName(name) {
		if hasFlannel {
			f.back(flannel)
		}
		return f.back(name)
	}
	if urls, ok := f.sub("urls"); ok && !c.cniURLs(urls) {
		return f.back(urls)
	}
	for _, key := range []string{"extraArgs", "kubeNetworkPoliciesEnabled"} {
		if part, ok := flannel.sub(key); ok && !c.put(part, part.value, "KubeFlannelCNIConfig", "", key) {
			flannel.back(part)
		}
	}
	if hasFlannel && !c.rest(flannel, nil) {
		return f.back(flannel)
	}
	return c.rest(f, nil)
}

// cniName converts the name of the CNI.
func (c *conversion) cniName(f field) bool {
	switch f.value.Value {
	case "none", "custom":
		return c.remove(f, "KubeFlannelCNIConfig", "")
	case "flannel":
		return defaultCNI(c, f)
	}
	return c.refuseShape(f, "flannel, custom or none")
}

// defaultCNI writes what Talos generates, since another patch may have deleted
// the document.
func defaultCNI(c *conversion, f field) bool {
	return c.put(f, scalar(flannelBackend), "KubeFlannelCNIConfig", "", "backendType") &&
		c.put(bare(f), number(flannelPort), "KubeFlannelCNIConfig", "", "backendPort")
}

// bare is f without its comments, for a second field that is made of it.
func bare(f field) field {
	f.key = &yaml.Node{Kind: yaml.ScalarNode, Line: f.key.Line, Column: f.key.Column}
	return f
}

// cniURLs converts the manifests of a custom CNI, under the name that Talos'
// own generator uses.
func (c *conversion) cniURLs(f field) bool {
	n := 0
	return c.each(f, func(item field) bool {
		n++
		name := "custom-cni"
		if n > 1 {
			name = fmt.Sprintf("custom-cni-%d", n)
		}
		return c.put(plain(item), item.value, "KubeExternalManifestConfig", name, "url")
	})
}

// convertDiscovery turns the discovery registries into the presence of a
// discovery service.
func convertDiscovery(c *conversion, f field) bool {
	if !isMapping(f.value) {
		return c.refuseShape(f, "a mapping")
	}
	enabled, okEnabled := tristate(get(f.value, "enabled"), true)
	registries := get(f.value, "registries")
	disabled, okDisabled := tristate(get(get(registries, "service"), "disabled"), false)
	kubernetes, okKubernetes := tristate(get(get(registries, "kubernetes"), "disabled"), true)
	switch {
	case !only(f.value, "enabled", "registries") || !only(registries, "kubernetes", "service") ||
		!only(get(registries, "kubernetes"), "disabled") || !only(get(registries, "service"), "disabled", "endpoint"):
		return c.refuse(f, "talosgen does not know all of its fields")
	case !okEnabled || !okDisabled || !okKubernetes:
		return c.refuseShape(f, "true or false")
	case !kubernetes && enabled:
		return c.refuse(f, "Talos 1.14 has no Kubernetes registry: set cluster.discovery.registries.kubernetes.disabled to true first")
	case !enabled || disabled:
		return c.remove(f, f.home.Kind, f.home.Name)
	}
	if endpoint := get(get(registries, "service"), "endpoint"); endpoint != nil {
		return c.put(f, endpoint, f.home.Kind, f.home.Name, "endpoint")
	}
	return c.put(f, scalar(discoveryEndpoint), f.home.Kind, f.home.Name, "endpoint")
}

// only reports whether a value is unset, or a mapping of no other keys.
func only(n *yaml.Node, keys ...string) bool {
	if n == nil || isNull(n) {
		return true
	}
	if !isMapping(n) || isDelete(n) {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !slices.Contains(keys, n.Content[i].Value) {
			return false
		}
	}
	return true
}

// tristate reads an optional boolean; ok is false if it is there but no boolean.
func tristate(n *yaml.Node, absent bool) (value, ok bool) {
	if n == nil || isNull(n) {
		return absent, true
	}
	return boolOf(n)
}

// convertScheduling turns the permission to schedule on control planes into
// the absence of their taint. The deletion is talosgen's, which does not mind
// nodes that have no such taint.
func convertScheduling(c *conversion, f field) bool {
	allowed, ok := boolOf(f.value)
	switch {
	case !ok:
		return c.refuseShape(f, "true or false")
	case allowed:
		return c.put(f, at(deletion(), f.value), "KubeNodeConfig", "", "taints", controlPlaneTaint)
	case c.opts.Workers:
		return c.refuse(f, "the taint would be set on workers too: put this into a patch for control planes (patches/controlplane/)")
	}
	return c.put(f, at(scalar("NoSchedule"), f.value), "KubeNodeConfig", "", "taints", controlPlaneTaint)
}

// convertAcceptedCAs decodes certificates, which the new document has as text.
func convertAcceptedCAs(c *conversion, f field) bool {
	if !isSequence(f.value) {
		return c.refuseShape(f, "a list")
	}
	certificates := at(sequence(), f.value)
	certificates.Tag = f.value.Tag
	for _, item := range f.value.Content {
		certificate, ok := pemOf(get(item, "crt"))
		if !ok {
			return c.refuseShape(f, "certificates in base64")
		}
		certificates.Content = append(certificates.Content, certificate)
	}
	return c.move(f, certificates)
}

// convertEncryptionSecret spells out the providers that older contracts make
// of the secret. The list replaces the generated one, since Kubernetes uses the
// first entry for a resource.
func convertEncryptionSecret(c *conversion, f field) bool {
	provider, key, other := "secretbox", "key2", "aescbcEncryptionSecret"
	if f.key.Value == other {
		provider, key, other = "aescbc", "key1", "secretboxEncryptionSecret"
	}
	if get(f.parent, other) != nil {
		return c.refuse(f, "with two secrets their order matters: write KubeEtcdEncryptionConfig by hand, or put them into the environment's secrets")
	}
	keys := mapping(scalar("keys"), sequence(mapping(scalar("name"), scalar(key), scalar("secret"), f.value)))
	resources := sequence(mapping(
		scalar("resources"), sequence(scalar("secrets")),
		scalar("providers"), sequence(mapping(scalar(provider), keys), mapping(scalar("identity"), mapping())),
	))
	resources.Tag = "!replace"
	return c.put(f, resources, f.home.Kind, "", "config", "resources")
}
