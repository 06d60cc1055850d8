package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/legacy"
	"github.com/talosgen/talosgen/schemas"
)

// kubernetesRules are about what belongs together in Kubernetes.
type kubernetesRules struct{ *reporter }

func (ch kubernetesRules) check() {
	k := ch.Kubernetes
	ch.unique(keys("kubernetes.admissionControl"), "name", namesOf(k.AdmissionControl, func(p schemas.AdmissionPlugin) string { return p.Name }))
	ch.unique(keys("kubernetes.inlineManifests"), "name", namesOf(k.InlineManifests, func(m schemas.InlineManifest) string { return m.Name }))
	ch.unique(keys("kubernetes.remoteManifests"), "", k.RemoteManifests)
	ch.unique(keys("kubernetes.rbac.clusterRoles"), "name", namesOf(k.RBAC.ClusterRoles, func(r schemas.ClusterRole) string { return r.Name }))
	ch.unique(keys("kubernetes.rbac.roles"), "name", namesOf(k.RBAC.Roles, func(r schemas.Role) string {
		if r.Name == "" || r.Namespace == "" {
			return "" // reported already
		}
		return r.Namespace + "/" + r.Name
	}))
	if len(k.Kubelet.ExtraMounts) > 0 {
		ch.legacyOnly(keys("kubernetes.kubelet.extraMounts"), "use a UserVolumeConfig in a patch")
	}
	ch.checkArguments()
	ch.checkShutdown()
	ch.checkOIDC()
}

// checkArguments refuses what contract 1.14 has another place for, or none.
func (ch kubernetesRules) checkArguments() {
	k, at := ch.Kubernetes, keys("kubernetes.apiServer.extraArgs")
	for _, arg := range slices.Sorted(maps.Keys(k.APIServer.ExtraArgs)) {
		advice, denied := legacy.DeniedArgument(arg)
		switch oidc := strings.HasPrefix(arg, "oidc-"); {
		case oidc && k.OIDC.Enabled:
			ch.fail("write it under kubernetes.oidc", sub(at, arg), "the argument %s beside kubernetes.oidc", arg)
		case oidc:
			ch.legacyOnly(sub(at, arg), "use kubernetes.oidc")
		case denied:
			ch.legacyOnly(sub(at, arg), advice)
		}
	}
	if len(k.Proxy.ExtraArgs) > 0 {
		ch.legacyOnly(keys("kubernetes.proxy.extraArgs"), "write what they say as config: of a KubeProxyConfig document in a patch")
	}
	if mode := k.Proxy.Mode; mode != "" && mode != "nftables" {
		ch.legacyOnly(keys("kubernetes.proxy.mode"), "use nftables: Talos warns of "+mode)
	}
}

// checkShutdown wants one place for the time that pods have.
func (ch kubernetesRules) checkShutdown() {
	k := ch.Kubernetes
	period, err := time.ParseDuration(k.Kubelet.GracefulShutdown.Period)
	critical, err2 := time.ParseDuration(k.Kubelet.GracefulShutdown.CriticalPods)
	if err == nil && err2 == nil && critical > period {
		ch.fail("it is the last part of period", keys("kubernetes.kubelet.gracefulShutdown.criticalPods"), "criticalPods %s is longer than period %s", critical, period)
	}
	for key, same := range map[string]string{"period": "shutdownGracePeriod", "criticalPods": "shutdownGracePeriodCriticalPods"} {
		at := keys("kubernetes.kubelet.gracefulShutdown." + key)
		if ch.has(at...) && k.Kubelet.ExtraConfig != nil && hasKey(k.Kubelet.ExtraConfig, same) {
			ch.fail("remove one of them", at, "%s beside kubernetes.kubelet.extraConfig.%s", display(at), same)
		}
	}
}

// hasKey tells whether a mapping has a key.
func hasKey(mapping *yaml.Node, key string) bool {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return true
		}
	}
	return false
}

func (ch kubernetesRules) checkOIDC() {
	o, at := ch.Kubernetes.OIDC, keys("kubernetes.oidc")
	if o.Enabled && o.IssuerURL == "" && !ch.has(sub(at, "issuerUrl")...) {
		ch.fail("for example issuerUrl: https://issuer.example.com", at, "oidc without issuerUrl")
	}
	ch.unique(sub(at, "groupMappings"), "group", namesOf(o.GroupMappings, func(m schemas.GroupMapping) string { return m.Group }))
	for i, m := range o.GroupMappings {
		if len(m.ClusterRoles)+len(m.Roles) == 0 {
			ch.fail("for example clusterRoles: [view]", append(sub(at, "groupMappings"), strconv.Itoa(i)), "a group without roles: %q", m.Group)
		}
	}
	if o.UsernamePrefix == "-" {
		ch.fail(`write "" for none`, sub(at, "usernamePrefix"), "usernamePrefix cannot be -, which means none to kube-apiserver")
	}
}
