// Package secretplaces knows where machine configurations hold secrets: places that
// always do, and places where whoever wrote them may have put one. Pure.
package secretplaces

import (
	"regexp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// Place is a part of a configuration: everything at or below some keys of the
// documents of a kind. Items of lists are not told apart.
type Place struct {
	// Kind of the document; empty for v1alpha1, * for any but that one.
	Kind string
	// Keys, separated by dots; * stands for any one key, ** for any number.
	// Empty: the whole document.
	Keys string
}

// Covers reports whether a path of a document of a kind lies in the place.
func (p Place) Covers(kind string, path yamltext.Path) bool {
	if p.Kind != kind && (p.Kind != "*" || kind == "") {
		return false
	}
	if p.Keys == "" {
		return true
	}
	return below(strings.Split(p.Keys, "."), path)
}

func below(keys []string, path yamltext.Path) bool {
	if len(keys) == 0 {
		return true
	}
	for len(path) > 0 && path[0].Index >= 0 {
		path = path[1:]
	}
	if keys[0] == "**" {
		return below(keys[1:], path) || len(path) > 0 && below(keys, path[1:])
	}
	if len(path) == 0 || keys[0] != "*" && keys[0] != path[0].Key {
		return false
	}
	return below(keys[1:], path[1:])
}

// secretNames are the keys below which everything is secret, in any document:
// so Talos' own RedactSecrets is covered, and what a newer Talos may add.
var secretNames = []string{
	"password", "passphrase", "privateKey", "presharedKey", "apiToken", "token", "identityToken", "uniqueToken", "secret",
	"clusterSecret", "aescbcEncryptionSecret", "secretboxEncryptionSecret", "key",
}

// secretPlaces are secrets with names that mean something else elsewhere.
var secretPlaces = []Place{
	{"", "machine.registries.config.*.auth.auth"},
	{"", "cluster.id"},
	{"DiscoveryIdentityConfig", "clusterID"},
	{"RegistryAuthConfig", "auth"},
	{"SideroLinkConfig", "apiUrl"},
}

// freePlaces are free text, maps and URLs: whoever wrote them may have put a
// secret there.
var freePlaces = []Place{
	{"", "machine.files"},
	{"", "machine.env"},
	{"", "machine.pods"},
	{"", "machine.kubelet.extraArgs"},
	{"", "machine.kubelet.extraConfig"},
	{"", "machine.kubelet.credentialProviderConfig"},
	{"", "machine.logging.destinations"},
	{"", "machine.registries.mirrors.*.endpoints"},
	{"", "machine.install.extraKernelArgs"},
	{"", "machine.baseRuntimeSpecOverrides"},
	{"", "cluster.*.env"},
	{"", "cluster.*.extraArgs"},
	{"", "cluster.apiServer.admissionControl"},
	{"", "cluster.apiServer.authorizationConfig"},
	{"", "cluster.apiServer.auditPolicy"},
	{"", "cluster.inlineManifests"},
	{"", "cluster.extraManifestHeaders"},
	{"", "cluster.extraManifests"},
	{"", "cluster.externalCloudProvider.manifests"},
	{"KubeInlineManifestConfig", "manifest"},
	{"KubeExternalManifestConfig", "headers"},
	{"KubeExternalManifestConfig", "url"},
	{"KubeStaticPodConfig", "pod"},
	{"KubeletConfig", "config"},
	{"KubeCredentialProviderConfig", ""},
	{"KubeAuthenticationConfig", ""},
	{"KubeAdmissionControlConfig", "configuration"},
	{"KubeAuthorizerConfig", "webhook"},
	{"KubeEtcdEncryptionConfig", ""},
	{"KubeServiceAccountConfig", ""},
	{"EnvironmentConfig", "variables"},
	{"ExtensionServiceConfig", ""},
	{"ContainerConfig", ""},
	{"EtcFileConfig", "contents"},
	{"CRICustomizationConfig", "content"},
	{"CRIBaseRuntimeSpecConfig", "overrides"},
	{"KmsgLogConfig", "url"},
	{"EventSinkConfig", "endpoint"},
	{"RegistryMirrorConfig", "endpoints"},
	{"HTTPProbeConfig", "url"},
	{"SideroLinkConfig", ""},
	{"DiscoveryServiceConfig", "endpoint"},
	{"*", "**.env"},
	{"*", "**.environment"},
	{"*", "**.extraArgs"},
	{"*", "**.kms.endpoint"},
}

// Certain reports whether everything at a path of a document is secret. The kind of
// the document without one is empty.
func Certain(kind string, path yamltext.Path) bool {
	for _, e := range path {
		if slices.Contains(secretNames, e.Key) {
			return true
		}
	}
	return covered(secretPlaces, kind, path)
}

// Password reports whether the value at a path is secret by its own name, such as a
// password or a token. A key may be one that is no secret, as that of a taint is.
func Password(path yamltext.Path) bool {
	if len(path) == 0 {
		return false
	}
	last := path[len(path)-1]
	return last.Index < 0 && last.Key != "key" && slices.Contains(secretNames, last.Key)
}

// Possible reports whether a path of a document is one of free text, where there may
// be a secret.
func Possible(kind string, path yamltext.Path) bool { return covered(freePlaces, kind, path) }

func covered(places []Place, kind string, path yamltext.Path) bool {
	return slices.ContainsFunc(places, func(p Place) bool { return p.Covers(kind, path) })
}

var (
	named = regexp.MustCompile(`(?i)(password|passwd|passphrase|secret|token|(?:api|auth|access|private|signing|encryption)_?key|credential|authorization)`)
	holds = regexp.MustCompile(`PRIVATE KEY|AGE-SECRET-KEY-|kind: *Secret\b|://[^/\s@]+:[^/\s@]+@`)
)

// Named reports whether a text, such as the name of a variable, speaks of a secret.
func Named(text string) bool { return named.MatchString(text) }

// Holds reports whether a text has a secret in it that is known by its form: a private
// key, a Secret, a password in a URL.
func Holds(text string) bool { return holds.MatchString(text) }
