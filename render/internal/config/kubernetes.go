package config

import (
	"strconv"
	"strings"
	"time"

	"github.com/talosgen/talosgen/schemas"
)

// checkKubernetes checks what belongs together in Kubernetes.
func (ch *checker) checkKubernetes() {
	k := ch.Kubernetes
	ch.checkUnique(keys("kubernetes.admissionControl"), "name", namesOf(k.AdmissionControl, func(p schemas.AdmissionPlugin) string { return p.Name }))
	ch.checkUnique(keys("kubernetes.inlineManifests"), "name", namesOf(k.InlineManifests, func(m schemas.InlineManifest) string { return m.Name }))
	ch.checkUnique(keys("kubernetes.remoteManifests"), "", k.RemoteManifests)
	ch.checkUnique(keys("kubernetes.rbac.clusterRoles"), "name", namesOf(k.RBAC.ClusterRoles, func(r schemas.ClusterRole) string { return r.Name }))
	ch.checkUnique(keys("kubernetes.rbac.roles"), "name", namesOf(k.RBAC.Roles, func(r schemas.Role) string {
		if r.Name == "" || r.Namespace == "" {
			return "" // reported already
		}
		return r.Namespace + "/" + r.Name
	}))
	if len(k.Kubelet.ExtraMounts) > 0 {
		ch.checkLegacy(keys("kubernetes.kubelet.extraMounts"), "use a UserVolumeConfig in a patch")
	}
	period, err := time.ParseDuration(k.Kubelet.GracefulShutdown.Period)
	critical, err2 := time.ParseDuration(k.Kubelet.GracefulShutdown.CriticalPods)
	if err == nil && err2 == nil && critical > period {
		ch.fail("it is the last part of period", keys("kubernetes.kubelet.gracefulShutdown.criticalPods"), "criticalPods %s is longer than period %s", critical, period)
	}
	ch.checkOIDC()
}

func (ch *checker) checkOIDC() {
	o, at := ch.Kubernetes.OIDC, keys("kubernetes.oidc")
	if o.Enabled && o.IssuerURL == "" && !ch.has(sub(at, "issuerUrl")...) {
		ch.fail("for example issuerUrl: https://issuer.example.com", at, "oidc without issuerUrl")
	}
	ch.checkUnique(sub(at, "groupMappings"), "group", namesOf(o.GroupMappings, func(m schemas.GroupMapping) string { return m.Group }))
	for i, m := range o.GroupMappings {
		if len(m.ClusterRoles)+len(m.Roles) == 0 {
			ch.fail("for example clusterRoles: [view]", append(sub(at, "groupMappings"), strconv.Itoa(i)), "a group without roles: %q", m.Group)
		}
	}
	for arg := range ch.Kubernetes.APIServer.ExtraArgs {
		if o.Enabled && strings.HasPrefix(arg, "oidc-") {
			ch.fail("write it under kubernetes.oidc", keys("kubernetes.apiServer.extraArgs."+arg), "the argument %s beside kubernetes.oidc", arg)
		}
	}
}
