package config

import (
	"encoding/pem"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/schemas"
)

// lastLegacyMinor is the last minor version of Talos 1 with a single document
// for most of a machine configuration; some fields did not get a home in those
// that follow.
const lastLegacyMinor = 13

// checkTalos checks what belongs together in the operating system.
func (ch *checker) checkTalos() {
	t := ch.Talos
	ch.checkUnique(keys("talos.extensions"), "", t.Extensions)
	ch.checkUnique(keys("talos.kernelModules"), "name", namesOf(t.KernelModules, func(m schemas.KernelModule) string { return m.Name }))
	ch.checkUnique(keys("talos.staticHosts"), "ip", namesOf(t.StaticHosts, func(h schemas.StaticHost) string { return h.IP }))
	ch.checkUnique(keys("talos.trustedRoots"), "name", namesOf(t.TrustedRoots, func(r schemas.TrustedRoots) string { return r.Name }))
	for i, r := range t.TrustedRoots {
		ch.checkCertificates([]string{"talos", "trustedRoots", strconv.Itoa(i), "certificates"}, r.Certificates)
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
	if t.Discovery.Kubernetes {
		ch.checkLegacy(keys("talos.discovery.kubernetes"), "use discovery.service")
	}
	ch.checkBackups()
}

// checkLegacy refuses an option that a newer contract has no home for.
func (ch *checker) checkLegacy(at []string, hint string) {
	if c := ch.Talos.ConfigContract; c != "" && versions.Minor(c) > lastLegacyMinor {
		ch.fail(hint+"; or set talos.configContract: v1."+strconv.Itoa(lastLegacyMinor), at,
			"%s has no place in machine configurations of contract %s", display(at), c)
	}
}

// checkCertificates wants certificates only. What it refuses it does not show:
// it may be a private key.
func (ch *checker) checkCertificates(at []string, text string) {
	if text == "" {
		return // absent, or reported already
	}
	for rest := []byte(text); strings.TrimSpace(string(rest)) != ""; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil:
			ch.fail("PEM begins with -----BEGIN CERTIFICATE-----", at, "%s holds something that is not PEM", display(at))
			return
		case block.Type != "CERTIFICATE":
			ch.fail("this file is readable for everyone; only certificates belong here", at, "%s holds something that is not a certificate", display(at))
			return
		}
	}
}

func (ch *checker) checkRegistries() {
	r, at := ch.Talos.Registries, keys("talos.registries")
	ch.checkUnique(sub(at, "mirrors"), "registry", namesOf(r.Mirrors, func(m schemas.RegistryMirror) string { return m.Registry }))
	ch.checkUnique(sub(at, "auth"), "registry", namesOf(r.Auth, func(a schemas.RegistryAuth) string { return a.Registry }))
	ch.checkUnique(sub(at, "tls"), "registry", namesOf(r.TLS, func(t schemas.RegistryTLS) string { return t.Registry }))
	for i, a := range r.Auth {
		item := append(sub(at, "auth"), strconv.Itoa(i))
		ch.checkVariable(sub(item, "usernameVariable"), a.UsernameVariable, false)
		ch.checkVariable(sub(item, "passwordVariable"), a.PasswordVariable, true)
	}
	for i, t := range r.TLS {
		item := append(sub(at, "tls"), strconv.Itoa(i))
		ch.checkCertificates(sub(item, "ca"), t.CA)
		if hasCA := ch.has(sub(item, "ca")...); hasCA == t.InsecureSkipVerify {
			ch.fail("give ca, or insecureSkipVerify: true", item, "either a certificate authority or no check at all")
		}
	}
}

// checkVariable checks a variable that the file names: that it is there, and
// that a secret one is secret. The name is not shown: it may be the secret
// itself, put into the wrong place.
func (ch *checker) checkVariable(at []string, name string, secret bool) {
	if name == "" || !ch.has(at...) {
		return // absent, or reported already; what has a default is looked for later
	}
	v, ok := ch.scope.Lookup(name)
	switch {
	case !ok && ch.lacking != nil:
		*ch.lacking = append(*ch.lacking, Lacking{Option: display(at), Variable: name})
	case !ok:
		hint := "talosgen secrets edit adds one under variables:"
		if suggestion := diag.Suggest(name, ch.scope.Names()); suggestion != "" {
			hint = suggestion + "\n" + hint
		}
		ch.fail(hint, at, "%s names a variable that is not defined", display(at))
	case secret && !v.Secret:
		ch.fail("move it to variables: in secrets.sops.yaml: talosgen secrets edit", at, "%s names a variable that everyone can read", display(at))
	}
}

// checkBackups checks that backups get somewhere, and may be made.
func (ch *checker) checkBackups() {
	s3, at := ch.Talos.Backups.S3, keys("talos.backups.s3")
	ch.checkVariable(sub(at, "accessKeyVariable"), s3.AccessKeyVariable, true)
	ch.checkVariable(sub(at, "secretKeyVariable"), s3.SecretKeyVariable, true)
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

// namesOf lists what must be unique of the items of a list.
func namesOf[T any](items []T, name func(T) string) []string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = name(item)
	}
	return names
}

// checkUnique finds a name that is in a list twice. The name is the item itself,
// or its value for key.
func (ch *checker) checkUnique(list []string, key string, names []string) {
	first := map[string]int{}
	for i, name := range names {
		before, twice := first[name]
		if !twice || name == "" {
			first[name] = i
			continue
		}
		at := sub(list, strconv.Itoa(i))
		if key != "" {
			at = sub(at, key)
		}
		line := ch.Pos(sub(list, strconv.Itoa(before))...).Line
		ch.fail("the first one is on line "+strconv.Itoa(line), at, "%s has %q twice", display(list), name)
	}
}
