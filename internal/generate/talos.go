package generate

import "github.com/talosgen/talosgen/schemas"

// certificate is one of an authority that nobody has the key of.
const certificate = `-----BEGIN CERTIFICATE-----
MIIBQDCB86ADAgECAhQ1OxWZ8IfoY12HvYKWwd6+UG5TtzAFBgMrZXAwFTETMBEG
A1UEAwwKRXhhbXBsZSBDQTAgFw0yNjExMjExODA0NDNaGA8yMTI2MTAyODE4MDQ0
M1owFTETMBEGA1UEAwwKRXhhbXBsZSBDQTAqMAUGAytlcAMhAB8MpwsL5wVoGtGf
GHRHRqZy+6nmNOy6Pn5hLfKpZjbPo1MwUTAdBgNVHQ4EFgQUQ82kPnH/i4pOJcUp
fZf6ppb79e0wHwYDVR0jBBgwFoAUQ82kPnH/i4pOJcUpfZf6ppb79e0wDwYDVR0T
AQH/BAUwAwEB/zAFBgMrZXADQQASFRqErBQ8o3Q5vzy125jLPFcBIhCmPEdqQVE5
vG+3DrFheZcvroP6YS2QJhwd+Z/fUGVL/6y92/3epvqr8GIL
-----END CERTIFICATE-----
`

// forcedReboots is the first minor version of Talos that can reboot by force.
const forcedReboots = 12

// givenSchematics is how many of a hundred environments give their schematic by
// its id.
const givenSchematics = 8

// talosGenerator makes the options of Talos.
type talosGenerator struct{ *environment }

// talos sets the operating system.
func (e talosGenerator) talos(c values) {
	t := inner(c, "talos")
	const at = "talos"
	if e.is(at+".schematic", givenSchematics) {
		t["schematic"] = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
	} else {
		put(e, t, at, "extensions", 20, func(name string) []string {
			return e.some(e.at+"."+name, "siderolabs/qemu-guest-agent", "siderolabs/iscsi-tools", "siderolabs/util-linux-tools")
		})
		put(e, t, at, "extraKernelArgs", 15, func(name string) []string {
			return e.some(e.at+"."+name, "net.ifnames=0", "talos.auditd.disabled=1", "mitigations=auto,nosmt")
		})
	}
	put(e, t, at, "imageFactory", 8, func(string) string { return "factory.example.com" })
	e.diskSelector(t, at, 6)
	e.diskEncryption(t)
	if e.Contract >= 14 {
		put(e, t, at, "secureVar", 10, func(string) bool { return false })
	}
	put(e, t, at, "kernelModules", 12, func(name string) []values {
		m := values{"name": "nbd"}
		put(e, m, name, "parameters", 60, func(string) []string { return []string{"nbds_max=64"} })
		return []values{m, {"name": "dm_crypt"}}
	})
	put(e, t, at, "sysctls", 20, func(name string) values {
		return values{"vm.max_map_count": one(e, name+" value", "262144", "524288"), "net.ipv4.ip_nonlocal_bind": "1"}
	})
	put(e, t, at, "udevRules", 12, func(string) []string { return []string{`KERNEL=="ttyUSB*", SYMLINK+="tty-$attr{serial}"`} })
	put(e, t, at, "nameservers", 12, func(string) []string { return []string{"185.12.64.1", "2a01:4ff:ff00::add:1"} })
	put(e, t, at, "timeServers", 12, func(string) []string { return []string{"ntp1.hetzner.de", "time.example.com"} })
	put(e, t, at, "staticHosts", 12, func(string) []values {
		return []values{{"ip": "192.168.77.20", "hostnames": []string{"registry.example.com", "cache.example.com"}}}
	})
	put(e, t, at, "trustedRoots", 10, func(name string) []values {
		return []values{{"name": one(e, name+" name", "company", "Example CA @ home"), "certificates": certificate}}
	})
	e.registries(t)
	put(e, t, at, "logging", 12, func(name string) values { return values{"destinations": []values{e.destination(name)}} })
	e.services(t)
	put(e, t, at, "certSans", 15, func(string) []string { return []string{"k8s.example.com", "203.0.113.7"} })
	e.apiAccess(t)
	put(e, t, at, "discardUnpackedLayers", 8, func(string) bool { return false })
	e.backups(t)
	put(e, t, at, "upgrade", 8, func(string) values {
		return values{"debug": true, "force": true, "stage": true, "rebootMode": "powercycle"}
	})
	put(e, t, at, "reboot", 8, func(name string) values {
		mode := one(e, name+" mode", "powercycle", "force")
		if e.Contract < forcedReboots {
			mode = "powercycle"
		}
		return values{"debug": true, "mode": mode}
	})
	if len(t) == 0 {
		delete(c, at)
	}
}

func (e talosGenerator) diskEncryption(t values) {
	const at = "talos.diskEncryption"
	d := values{}
	e.flag(d, at, "state", 12)
	e.flag(d, at, "ephemeral", 12)
	if e.Provider == schemas.Static {
		e.choice(d, at, "key", 15, "nodeId", "tpm")
	} else {
		e.choice(d, at, "key", 8, "nodeId")
	}
	section(t, "diskEncryption", d)
}

func (e talosGenerator) destination(name string) values {
	d := values{"endpoint": one(e, name+" endpoint", "tcp://192.168.77.30:5140", "udp://logs.example.com:514")}
	put(e, d, name, "format", 30, func(string) string { return "json_lines" })
	put(e, d, name, "extraTags", 50, func(name string) values { return values{"cluster": e.Cluster, "note": e.text(e.at + "." + name)} })
	return d
}

func (e talosGenerator) registries(t values) {
	if !e.is("talos.registries", 20) {
		return
	}
	const at = "talos.registries"
	r := values{}
	put(e, r, at, "mirrors", 60, func(name string) []values {
		m := values{"registry": one(e, name+" registry", "docker.io", "*"), "endpoints": []string{"https://mirror.example.com/v2/hub"}}
		e.flag(m, name, "overridePath", 40)
		e.flag(m, name, "skipFallback", 40)
		return []values{m}
	})
	put(e, r, at, "auth", 50, func(string) []values {
		e.env = append(e.env, "REGISTRY_USER=puller")
		e.Secrets["REGISTRY_PASSWORD"] = e.token(e.at+".registry", 32)
		return []values{{"registry": "registry.example.com", "usernameVariable": "REGISTRY_USER", "passwordVariable": "REGISTRY_PASSWORD"}}
	})
	put(e, r, at, "tls", 50, func(string) []values {
		return []values{{"registry": "registry.example.com", "ca": certificate}, {"registry": "old.example.com", "insecureSkipVerify": true}}
	})
	section(t, "registries", r)
}

// services are those that nodes have for one another and for pods.
func (e talosGenerator) services(t values) {
	d := values{}
	e.flag(d, "talos.discovery", "service", 12)
	if e.Contract < 14 {
		put(e, d, "talos.discovery", "kubernetes", 15, func(string) bool { return true })
	} else {
		put(e, d, "talos.discovery", "kubernetes", 5, func(string) bool { return false })
	}
	section(t, "discovery", d)
	if d["service"] != false {
		put(e, t, "talos", "kubeSpan", 12, func(string) values { return values{"enabled": true} })
	}
	prism := values{}
	e.flag(prism, "talos.kubePrism", "enabled", 12)
	put(e, prism, "talos.kubePrism", "port", 12, func(name string) int { return e.of(name+" value", 7000, 7999) })
	section(t, "kubePrism", prism)
	dns := values{}
	e.flag(dns, "talos.hostDns", "enabled", 12)
	if dns["enabled"] != false {
		put(e, dns, "talos.hostDns", "forwardKubeDnsToHost", 15, func(string) bool { return true })
		e.flag(dns, "talos.hostDns", "resolveMemberNames", 12)
	}
	section(t, "hostDns", dns)
}

func (e talosGenerator) apiAccess(t values) {
	const at = "talos.apiAccess"
	a := values{}
	put(e, a, at, "enabled", 12, func(string) bool { return true })
	put(e, a, at, "roles", 12, func(name string) []string { return e.some(e.at+"."+name, "os:reader", "os:etcd:backup", "os:operator") })
	put(e, a, at, "namespaces", 12, func(string) []string { return []string{"kube-system", "backup"} })
	section(t, "apiAccess", a)
}

func (e talosGenerator) backups(t values) {
	if !e.is("talos.backups", 10) {
		return
	}
	const at = "talos.backups.s3"
	s := values{"enabled": true, "bucket": "my-backup"}
	put(e, s, at, "region", 30, func(string) string { return "fsn1" })
	// Hetzner has a service of its own in Europe alone.
	if e.Provider == schemas.Static || e.is(at+".endpoint", 30) || e.zone().name != europe.name && s["region"] == nil {
		s["endpoint"] = "https://s3.example.com"
	}
	put(e, s, at, "prefix", 30, func(string) string { return "prod/etcd" })
	e.flag(s, at, "pathStyle", 30)
	put(e, s, at, "schedule", 40, func(name string) string { return one(e, name+" value", "30 3 * * *", "@daily") })
	e.flag(s, at, "compression", 30)
	put(e, s, at, "agePublicKey", 20, func(string) string { return "age1gpfnr0376ut4d28l9kn5dtp77j4h0h5zmxpglhl6plmk28u0xg6sumkz7g" })
	access, secret := "BACKUP_S3_ACCESS_KEY", "BACKUP_S3_SECRET_KEY"
	if e.is(at+".variables", 30) {
		access, secret = "S3_ACCESS_KEY", "S3_SECRET_KEY"
		s["accessKeyVariable"], s["secretKeyVariable"] = access, secret
	}
	e.Secrets[access], e.Secrets[secret] = e.token(e.at+".access", 20), e.token(e.at+".secret", 40)
	put(e, s, at, "image", 20, func(string) string {
		if s["compression"] == true {
			return "ghcr.io/siderolabs/talos-backup:v0.1.0-beta.3-3-g38dad7c" // the release before does not compress
		}
		return "ghcr.io/siderolabs/talos-backup:v0.1.0-beta.3"
	})
	t["backups"] = values{"s3": s}
	access2 := inner(t, "apiAccess")
	access2["enabled"] = true
	delete(access2, "roles")
	delete(access2, "namespaces")
}
