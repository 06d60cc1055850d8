package config

import (
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/schemas"
)

// forced is the first minor version of Talos that reboots without ending services.
const forced = 12

// secured is the first minor version of Talos that mounts /var as talos.secureVar says.
const secured = 14

// talosRules are about what belongs together in the operating system.
type talosRules struct{ *reporter }

func (ch talosRules) check() {
	t := ch.Talos
	ch.unique(keys("talos.kernelModules"), "name", namesOf(t.KernelModules, func(m schemas.KernelModule) string { return m.Name }))
	ch.unique(keys("talos.staticHosts"), "ip", namesOf(t.StaticHosts, func(h schemas.StaticHost) string { return h.IP }))
	ch.unique(keys("talos.trustedRoots"), "name", namesOf(t.TrustedRoots, func(r schemas.TrustedRoots) string { return r.Name }))
	for i, r := range t.TrustedRoots {
		ch.certificates([]string{"talos", "trustedRoots", strconv.Itoa(i), "certificates"}, r.Certificates)
	}
	ch.checkRegistries()
	if t.DiskEncryption.Key == "tpm" && ch.Provider == schemas.Hetzner {
		ch.fail("use nodeId", keys("talos.diskEncryption.key"), "servers of Hetzner Cloud have no TPM")
	}
	if t.KubeSpan.Enabled && !t.Discovery.Service && !t.Discovery.Kubernetes {
		ch.fail("enable talos.discovery.service", keys("talos.kubeSpan.enabled"), "KubeSpan without discovery: nodes do not find one another")
	}
	if t.HostDNS.ForwardKubeDNSToHost && !t.HostDNS.Enabled {
		ch.fail("enable talos.hostDns", keys("talos.hostDns.forwardKubeDnsToHost"), "the cluster's DNS cannot ask a DNS cache that is not there")
	}
	if t.Reboot.Mode == "force" && versions.Minor(t.Version) < forced {
		ch.fail("use powercycle", keys("talos.reboot.mode"), "Talos %s has no forced reboot, which begins with 1.%d", t.Version, forced)
	}
	if !t.SecureVar && versions.Minor(t.Version) < secured {
		ch.fail("remove it", keys("talos.secureVar"), "Talos %s allows device files below /var; from 1.%d on it can be told to", t.Version, secured)
	}
	if t.Discovery.Kubernetes {
		ch.legacyOnly(keys("talos.discovery.kubernetes"), "use discovery.service")
	}
	ch.checkBackups()
}

func (ch talosRules) checkRegistries() {
	r, at := ch.Talos.Registries, keys("talos.registries")
	ch.unique(sub(at, "mirrors"), "registry", namesOf(r.Mirrors, func(m schemas.RegistryMirror) string { return m.Registry }))
	ch.unique(sub(at, "auth"), "registry", namesOf(r.Auth, func(a schemas.RegistryAuth) string { return a.Registry }))
	ch.unique(sub(at, "tls"), "registry", namesOf(r.TLS, func(t schemas.RegistryTLS) string { return t.Registry }))
	for i, a := range r.Auth {
		item := append(sub(at, "auth"), strconv.Itoa(i))
		ch.variable(sub(item, "usernameVariable"), a.UsernameVariable, false)
		ch.variable(sub(item, "passwordVariable"), a.PasswordVariable, true)
	}
	for i, t := range r.TLS {
		item := append(sub(at, "tls"), strconv.Itoa(i))
		ch.certificates(sub(item, "ca"), t.CA)
		if hasCA := ch.has(sub(item, "ca")...); hasCA == t.InsecureSkipVerify {
			ch.fail("give ca, or insecureSkipVerify: true", item, "either a certificate authority or no check at all")
		}
	}
}

// checkBackups checks that backups get somewhere, and may be made.
func (ch talosRules) checkBackups() {
	s3, at := ch.Talos.Backups.S3, keys("talos.backups.s3")
	ch.variable(sub(at, "accessKeyVariable"), s3.AccessKeyVariable, true)
	ch.variable(sub(at, "secretKeyVariable"), s3.SecretKeyVariable, true)
	if !s3.Enabled {
		return
	}
	if s3.Bucket == "" && !ch.has(sub(at, "bucket")...) {
		ch.fail("for example bucket: my-backup", at, "backups without bucket")
	}
	if s3.Endpoint == "" && !ch.has(sub(at, "endpoint")...) {
		ch.fail("for example endpoint: https://s3.example.com; Hetzner's own is in "+strings.Join(objectStorage, ", "), at, "backups without endpoint")
	}
}
