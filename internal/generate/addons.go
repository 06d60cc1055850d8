package generate

import (
	"fmt"

	"github.com/talosgen/talosgen/schemas"
)

// podNetworkGenerator makes the network of pods, and the way in.
type podNetworkGenerator struct{ *environment }

// cni sets the network of the pods.
func (e podNetworkGenerator) cni(c values) {
	const at = "cni"
	kind := one(e, at+".type", "", "", "flannel", "none", "cilium", "cilium")
	e.Settles = kind != "none" && !e.pinned && !e.sixOnly
	n := values{}
	if kind != "" {
		n["type"] = kind
	}
	if kind != "cilium" {
		put(e, n, at, "encryption", 5, func(string) string { return "none" })
		section(c, at, n)
		return
	}
	put(e, n, at, "manager", 10, func(string) string { return "talosgen" })
	e.choice(n, at, "encryption", 40, "none", "wireguard", "ipsec")
	if n["encryption"] == "ipsec" {
		put(e, n, at, "ipsec", 70, func(name string) values {
			return values{"algorithm": "rfc4106(gcm(aes))", "keySize": one(e, name+" size", 128, 192, 256), "keyId": e.of(name+" id", 1, 15)}
		})
	}
	put(e, n, at, "kubeProxyReplacement", 25, func(string) bool { return false })
	e.choice(n, at, "routingMode", 30, "native", "tunnel")
	e.choice(n, at, "datapathMode", 25, "veth", "netkit", "netkit-l2")
	if dns, _ := inner(c, "talos")["hostDns"].(values); n["encryption"] == "ipsec" || dns["forwardKubeDnsToHost"] == true {
		delete(n, "datapathMode") // netkit passes by what these need
	}
	e.choice(n, at, "loadBalancerAcceleration", 25, "disabled", "native", "best-effort")
	if n["kubeProxyReplacement"] != false {
		put(e, n, at, "egressGateway", 25, func(string) bool { return true })
		put(e, n, at, "gatewayApi", 20, func(string) bool { return true })
	}
	put(e, n, at, "hubble", 30, func(name string) values {
		relay := e.is(name+" relay", 50)
		return values{"enabled": true, "relay": relay, "ui": relay && e.is(name+" ui", 50)}
	})
	if h, ok := c["hetzner"].(values); ok && h["podRoutes"] != nil && h["robot"] != nil {
		n["routingMode"] = "tunnel"
	}
	c[at] = n
	e.local(c, "cilium", "kube-system")
	e.files[e.place("cilium")+"/objects.yaml"] += ciliumWorkloads()
	if n["gatewayApi"] == true {
		e.local(c, "gateway-api", "kube-system")
	}
	e.proxy(c, n)
}

// ciliumWorkloads are what a cluster has of Cilium at least: without its agent there
// is no network, and without its operator none of its kinds is defined.
func ciliumWorkloads() (text string) {
	for _, w := range []struct{ kind, name string }{{"DaemonSet", "cilium"}, {"Deployment", "cilium-operator"}} {
		labels := values{"app.kubernetes.io/name": w.name}
		text += "---\n" + encode(values{
			"apiVersion": "apps/v1", "kind": w.kind, "metadata": values{"name": w.name, "namespace": "kube-system"},
			"spec": values{"selector": values{"matchLabels": labels}, "template": values{
				"metadata": values{"labels": labels},
				"spec":     values{"containers": []values{{"name": w.name, "image": "quay.io/cilium/" + w.name + ":v1.20.2"}}},
			}},
		})
	}
	return text
}

// proxy lets kube-proxy be there only if Cilium does not replace it.
func (e podNetworkGenerator) proxy(c, n values) {
	k, _ := c["kubernetes"].(values)
	if p, ok := k["proxy"].(values); ok && n["kubeProxyReplacement"] == nil {
		delete(p, "enabled")
		if len(p) == 0 {
			delete(k, "proxy")
		}
	}
}

// ingress sets how traffic reaches services.
func (e podNetworkGenerator) ingress(c values) {
	if !e.is("ingress", 15) {
		return
	}
	in := values{}
	const at = "ingress"
	if e.is(at+".nginx", 60) {
		n := values{"enabled": true}
		if e.is(at+".nginx.kind", 40) {
			n["kind"] = "DaemonSet"
		} else {
			put(e, n, at+".nginx", "replicas", 40, func(name string) int { return e.of(name+" value", 1, 5) })
		}
		e.flag(n, at+".nginx", "topologyAwareRouting", 40)
		e.choice(n, at+".nginx", "externalTrafficPolicy", 40, "Local", "Cluster")
		put(e, n, at+".nginx", "config", 40, func(string) values { return values{"proxy-body-size": "50m"} })
		in["nginx"] = n
		e.local(c, "ingress-nginx", "ingress-nginx")
	}
	if e.Provider == schemas.Hetzner {
		put(e, in, at, "loadBalancer", 50, func(name string) values { return e.ingressBalancer(name) })
		put(e, in, at, "loadBalancerPools", 40, func(name string) []values { return e.balancerPools(name) })
	}
	section(c, at, in)
}

func (e podNetworkGenerator) ingressBalancer(at string) values {
	lb := values{}
	put(e, lb, at, "type", 50, func(string) string { return "lb21" })
	e.choice(lb, at, "algorithm", 50, "round_robin", "least_connections")
	e.flag(lb, at, "publicNetwork", 40)
	e.health(lb, at)
	e.names(lb, at, 40)
	return lb
}

func (e podNetworkGenerator) balancerPools(at string) (all []values) {
	for i := range e.of(at, 1, 2) {
		at := fmt.Sprintf("%s%d", at, i)
		p := values{"name": fmt.Sprintf("lb-%d", i)}
		put(e, p, at, "location", 40, func(string) string { return e.near("fsn1") })
		put(e, p, at, "count", 40, func(name string) int { return e.of(name+" value", 0, 2) })
		put(e, p, at, "type", 40, func(string) string { return "lb21" })
		put(e, p, at, "labels", 40, func(string) values { return values{"traffic": "public"} })
		put(e, p, at, "targetLabelSelector", 40, func(string) []string { return []string{"nodepool=edge", "role=worker"} })
		if e.is("ingress.localTraffic", 40) { // one Service is behind all of them
			p["localTraffic"] = e.is("ingress.localTraffic value", 70)
		}
		e.choice(p, at, "algorithm", 40, "round_robin", "least_connections")
		e.flag(p, at, "publicNetwork", 40)
		e.names(p, at, 40)
		if e.is("ingress.ports", 40) { // one Service is behind all of them
			p["ports"] = []values{{"listen": 80, "node": 31080}, {"listen": 443, "node": 31443}, {"listen": 22, "node": 30022, "proxyProtocol": e.is(at+".proxyProtocol", 50)}}
		}
		all = append(all, p)
	}
	return all
}

// addonGenerator makes addons, and where they come from.
type addonGenerator struct{ *environment }

// gitops sets what runs the addons from Git.
func (e addonGenerator) gitops(c values) {
	if !e.is("gitops", 30) {
		put(e, c, "", "gitops", 5, func(string) values { return values{"engine": schemas.NoEngine} })
		return
	}
	const at = "gitops"
	g := values{"components": schemas.Existing}
	put(e, g, at, "engine", 40, func(string) string { return schemas.Flux })
	switch one(e, at+".auth way", schemas.DeployKey, schemas.Token, schemas.Public) {
	case schemas.DeployKey:
		g["repository"] = one(e, at+".repository ssh", "ssh://git@github.com/example/clusters.git", "ssh://git@git.example.com:2222/clusters.git")
		if g["repository"] != "ssh://git@github.com/example/clusters.git" || e.is(at+".knownHosts", 40) {
			g["knownHosts"] = []string{"[git.example.com]:2222 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKq5mUPMFi1JP3kPyvyVvYmCeS0bLqTPqbHoTbS9mHCT"}
		}
		put(e, g, at, "auth", 30, func(string) string { return schemas.DeployKey })
	case schemas.Token:
		g["repository"], g["auth"] = "https://git.example.com/clusters", schemas.Token
		e.Secrets["GIT_TOKEN"] = e.token(e.at+".git", 40)
		put(e, g, at, "user", 50, func(string) string { return "oauth2" })
	default:
		g["repository"] = "https://github.com/example/clusters"
	}
	if e.is(at+".oci", 20) {
		for key := range g {
			if key != "components" && key != "engine" {
				delete(g, key)
			}
		}
		e.oci(g)
		c[at] = g
		return
	}
	put(e, g, at, "verifyKeys", 15, func(string) []string {
		return []string{"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDMEZ0example\n-----END PGP PUBLIC KEY BLOCK-----\n"}
	})
	put(e, g, at, "branch", 40, func(string) string { return "release/2026.11" })
	put(e, g, at, "path", 30, func(name string) string {
		return one(e, name+" value", "rendered/", "infra/k8s/rendered/", "clusters/") + e.Name
	})
	e.notifications(g)
	put(e, g, at, "interval", 40, func(name string) string { return one(e, name+" value", "5m", "1h30m") })
	switch {
	case e.is(at+".engine argocd", 25):
		e.argoCD(c, g)
	case e.is(at+".components operator", 30):
		e.operator(c, g)
	}
	c[at] = g
}

// oci sets an artifact in place of a repository.
func (e addonGenerator) oci(g values) {
	const at = "gitops.oci"
	o := values{"url": "oci://registry.example.com/clusters"}
	switch one(e, at+".ref", "", "tag", "semver", "digest") {
	case "tag":
		o["tag"] = e.Name
	case "semver":
		o["semver"] = "1.x"
	case "digest":
		o["digest"] = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	}
	put(e, o, at, "insecure", 20, func(string) bool { return true })
	put(e, o, at, "user", 50, func(string) string { return "reader" })
	e.Secrets["OCI_TOKEN"] = e.token(e.at+".oci", 40)
	switch one(e, at+".signed", "", "keys", "identities") {
	case "keys":
		put(e, o, at, "verifyKeys", 100, func(string) []string {
			return []string{"-----BEGIN PUBLIC KEY-----\nMFkwEwexample\n-----END PUBLIC KEY-----\n"}
		})
	case "identities":
		put(e, o, at, "verifyIdentities", 100, func(string) []values {
			return []values{{"issuer": "^https://token.example.com$", "subject": "^https://git.example.com/.*$"}}
		})
	}
	g["oci"] = o
	e.notifications(g)
}

// notifications set whom Flux tells.
func (e addonGenerator) notifications(g values) {
	const at = "gitops.notifications"
	if !e.is(at, 25) {
		return
	}
	all := []values{
		{"name": "ops", "type": schemas.Matrix, "address": "https://matrix.example.com", "channel": "!abcdef:example.com"},
		{"name": "mail", "type": schemas.Alertmanager, "address": "http://alertmanager.monitoring:9093/api/v2/alerts/"},
	}
	e.Secrets["NOTIFY_OPS"] = e.token(e.at+".notify", 40)
	put(e, all[0], at, "variable", 20, func(string) string { return "NOTIFY_OPS" })
	e.choice(all[0], at, "severity", 40, "info", "error")
	put(e, all[0], at, "kinds", 30, func(string) []string { return []string{"HelmRelease", "Kustomization"} })
	put(e, all[0], at, "exclude", 20, func(string) []string { return []string{"^Dependencies do not meet ready condition"} })
	g["notifications"] = all[:e.of(at+" number", 1, 2)]
}

// addons sets what else runs in the cluster.
func (e addonGenerator) addons(c values) {
	all := inner(c, "addons")
	if e.is("addons.metrics-server", 20) {
		all["metrics-server"] = values{"enabled": false}
	}
	if e.is("addons.hcloud-csi", 10) && e.Provider == schemas.Hetzner {
		all["hcloud-csi"] = values{"version": "v2.22.0"}
	}
	if c["certificates"] == nil && e.is("addons.cert-manager", 10) {
		e.local(c, "cert-manager", "cert-manager")
		all["cert-manager"].(values)["enabled"] = true
	}
	for _, name := range []string{"descheduler", "external-secrets", "node-feature-discovery", "prometheus-operator-crds", "reloader"} {
		if e.is("addons."+name, 5) {
			e.charted(c, name, nil)["enabled"] = true
		}
	}
	e.operations(c)
	for i := range e.of("addons own", 0, 2) {
		e.own(all, fmt.Sprintf("addons%d", i), fmt.Sprintf("own-%d", i))
	}
	if e.is("addons off", 15) { // nothing of it is got
		all["off"] = values{"enabled": false, "version": "1.2.3", "source": values{"chart": values{"repository": "https://charts.example.com", "name": "podinfo"}}}
		all["off-too"] = values{"enabled": false, "source": values{"manifests": []values{
			{"url": "https://example.com/v1/install.yaml", "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
		}}}
	}
	if len(all) == 0 {
		delete(c, "addons")
	}
}

// own is an addon of the user's own.
func (e addonGenerator) own(all values, at, name string) {
	a := values{"namespace": e.name(e.at+"."+at+".namespace", 20)}
	e.flag(a, at, "enabled", 20)
	e.choice(a, at, "podSecurity", 30, "restricted", "baseline", "privileged")
	e.choice(a, at, "layer", 40, "controllers", "configs", "apps")
	put(e, a, at, "hooks", 20, func(name string) string { return one(e, name+" value", "drop", "keep") })
	put(e, a, at, "makes", 15, func(string) []string { return []string{"Secret/*/" + name + "-made"} })
	e.needs(a, at)
	if e.is(at+".chart", 40) {
		a["source"] = values{"chart": values{"path": e.chart(name)}}
	} else {
		folder := e.place(name)
		a["source"] = values{"path": folder}
		e.files[folder+"/objects.yaml"] = e.settings(name, e.text(e.at+"."+at+" text"))
	}
	if name != "own-0" && all["own-0"] != nil && all["own-0"].(values)["enabled"] != false && a["layer"] == all["own-0"].(values)["layer"] {
		put(e, a, at, "dependsOn", 60, func(string) []string { return []string{"own-0"} })
	}
	all[name] = a
}

// place is where the objects of an addon are that come from the repository: for
// one environment, or for all.
func (e *environment) place(name string) string {
	return one(e, "place of "+name, "envs/"+e.Name+"/addons/"+name+"/own", "charts/"+e.Name+"/"+name)
}

// settings is a ConfigMap.
func (e addonGenerator) settings(name, text string) string {
	return encode(values{"apiVersion": "v1", "kind": "ConfigMap", "metadata": values{"name": name}, "data": values{"text": text}})
}

// chart makes a small chart of the repository's own, and returns where it is.
func (e addonGenerator) chart(name string) string {
	folder := e.place(name)
	e.files[folder+"/Chart.yaml"] = encode(values{"apiVersion": "v2", "name": name, "version": "1.0.0"})
	e.files[folder+"/values.yaml"] = "text: default\n"
	e.files[folder+"/templates/settings.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n  namespace: {{ .Release.Namespace }}\ndata:\n  text: {{ .Values.text | quote }}\n"
	return folder
}

// local lets an addon of the catalogue come from the repository: nothing is got
// from its authors.
func (e *environment) local(c values, name, namespace string) {
	folder := e.place(name)
	e.files[folder+"/objects.yaml"] = encode(values{"apiVersion": "v1", "kind": "ConfigMap", "metadata": values{"name": name, "namespace": namespace}, "data": values{"text": name}})
	inner(c, "addons")[name] = values{"source": values{"path": folder}}
}

// charted lets an addon of the catalogue be a small chart of the repository, and
// returns what cluster.yaml says of it.
func (e *environment) charted(c values, name string, needs values) values {
	a := values{"source": values{"chart": values{"path": addonGenerator{e}.chart(name)}}}
	section(a, "needs", needs)
	inner(c, "addons")[name] = a
	return a
}
