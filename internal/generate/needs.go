package generate

import "github.com/talosgen/talosgen/schemas"

// needs is what an addon of the user's own needs of machines and of the cluster. What
// talosgen cannot add is only warned of, or ignored.
func (e addonGenerator) needs(all values, at string) {
	if !e.is(at+".needs", 35) {
		return
	}
	at += ".needs"
	n := values{"unmet": one(e, at+".unmet", schemas.ApplyUnmet, schemas.WarnUnmet, schemas.IgnoreUnmet)}
	put(e, n, at, "extensions", 40, func(string) []string { return []string{"siderolabs/iscsi-tools"} })
	put(e, n, at, "kernelModules", 30, func(string) []string { return []string{"nvme_tcp"} })
	put(e, n, at, "unsecuredVar", 20, func(string) bool { return true })
	put(e, n, at, "keptLayers", 20, func(string) bool { return true })
	put(e, n, at, "kubeletMounts", 20, func(string) []string { return []string{"/var/lib/data"} })
	if n["unmet"] != schemas.ApplyUnmet {
		// Nor does talosgen add a role where other namespaces have others.
		put(e, n, at, "talosRoles", 20, func(string) []string { return []string{"os:reader"} })
		// Patches may replace all kernel parameters, those that talosgen adds too.
		put(e, n, at, "sysctls", 30, func(name string) values {
			return values{"vm.nr_hugepages": one(e, name+" value", "64", ">=64")}
		})
		put(e, n, at, "userVolumes", 30, func(string) []string { return []string{"data"} })
	}
	if n["unmet"] == schemas.IgnoreUnmet {
		e.clusterNeeds(n, at)
	}
	if len(e.pools) > 0 {
		put(e, n, at, "pools", 25, func(string) []string { return []string{e.pools[0].name} })
	}
	put(e, n, at, "nodeSelector", 15, func(string) values { return values{"example.com/disk": "ssd"} })
	all["needs"] = n
}

// clusterNeeds are those that no machine meets.
func (e addonGenerator) clusterNeeds(n values, at string) {
	e.choice(n, at, "podSecurity", 30, "restricted", "baseline", "privileged")
	put(e, n, at, "definitions", 30, func(string) []string { return []string{"servicemonitors.monitoring.coreos.com"} })
	put(e, n, at, "storageClass", 30, func(string) string { return "fast" })
	put(e, n, at, "secrets", 30, func(string) []string {
		e.Secrets["DNS_TOKEN"] = e.token(e.at+".dns", 40)
		return []string{"DNS_TOKEN"}
	})
}

// check is what is right, though a check finds something wrong with it.
func (e addonGenerator) check(c values) {
	put(e, c, "", "check", 10, func(name string) values {
		i := values{"object": "ConfigMap/*/own-0", "reason": "somebody else makes it"}
		put(e, i, name, "field", 50, func(string) string { return "data.text" })
		return values{"ignore": []values{i}}
	})
}

// operations are addons of the catalogue that need something of machines, or secrets.
func (e addonGenerator) operations(c values) {
	if e.is("addons.kube-prometheus-stack", 8) {
		e.charted(c, "kube-prometheus-stack", nil)["enabled"] = true
		e.charted(c, "prometheus-operator-crds", nil)
	}
	if e.is("addons.sealed-secrets", 4) { // its key takes seconds to make
		e.charted(c, "sealed-secrets", nil)["enabled"] = true
	}
	if e.is("addons.spegel", 8) {
		e.charted(c, "spegel", values{"unmet": schemas.ApplyUnmet})["enabled"] = true
	}
	if e.is("addons.tailscale-operator", 8) {
		e.charted(c, "tailscale-operator", nil)["enabled"] = true
		e.env = append(e.env, "TAILSCALE_CLIENT_ID=k123456CNTRL")
		e.Secrets["TAILSCALE_CLIENT_SECRET"] = e.token(e.at+".tailscale", 40)
	}
}
