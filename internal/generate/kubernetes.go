package generate

import "github.com/talosgen/talosgen/internal/versions"

// kubernetesGenerator makes the options of Kubernetes.
type kubernetesGenerator struct{ *environment }

// kubernetes sets Kubernetes.
func (e kubernetesGenerator) kubernetes(c values) {
	k := inner(c, "kubernetes")
	const at = "kubernetes"
	put(e, k, at, "apiHostname", 12, func(string) string { return "api.k8s.example.com" })
	e.components(k)
	e.kubelet(k)
	dns := values{}
	e.flag(dns, at+".coreDns", "enabled", 8)
	put(e, dns, at+".coreDns", "image", 10, func(string) string { return "registry.example.com/coredns:v1.13.1" })
	section(k, "coreDns", dns)
	put(e, k, at, "admissionControl", 10, func(string) []values {
		return []values{{"name": "EventRateLimit", "configuration": values{
			"apiVersion": "eventratelimit.admission.k8s.io/v1alpha1", "kind": "Configuration", "limits": []values{{"type": "Server", "qps": 50, "burst": 100}},
		}}}
	})
	put(e, k, at, "externalCloudProvider", 6, func(string) bool { return e.Provider == "hetzner" })
	put(e, k, at, "inlineManifests", 12, func(name string) []values {
		return []values{{"name": "namespaces", "contents": encode(values{
			"apiVersion": "v1", "kind": "Namespace", "metadata": values{"name": "web", "annotations": values{"note": e.text(e.at + "." + name)}},
		})}}
	})
	put(e, k, at, "remoteManifests", 8, func(string) []string { return []string{"https://example.com/crds.yaml"} })
	e.flag(k, at, "openMetrics", 10)
	e.oidc(k)
	e.rbac(k)
	if len(k) == 0 {
		delete(c, at)
	}
}

// components sets the parts of the control plane.
func (e kubernetesGenerator) components(k values) {
	version, given := k["version"].(string)
	if !given {
		version = versions.Newest().Start()
	}
	for _, name := range []string{"apiServer", "controllerManager", "scheduler", "etcd", "kubelet", "proxy"} {
		at := "kubernetes." + name
		p := values{}
		put(e, p, at, "image", 6, func(string) string { return "registry.example.com/" + name + ":v" + version })
		if name != "proxy" || e.Contract < 14 {
			args := map[string]values{"etcd": {"listen-metrics-urls": "http://127.0.0.1:2381"}, "proxy": {"metrics-bind-address": "0.0.0.0:10249"}}[name]
			if args == nil {
				args = values{"v": "3"}
			}
			put(e, p, at, "extraArgs", 8, func(string) values { return args })
		}
		if name == "proxy" {
			modes := []string{"nftables"}
			if e.Contract < 14 {
				modes = append(modes, "iptables", "ipvs")
			}
			e.choice(p, at, "mode", 12, modes...)
			put(e, p, at, "enabled", 8, func(string) bool { return false })
		}
		section(k, name, p)
	}
}

func (e kubernetesGenerator) kubelet(k values) {
	const at = "kubernetes.kubelet"
	l := inner(k, "kubelet")
	put(e, l, at, "extraConfig", 12, func(string) values {
		return values{"maxPods": 200, "systemReserved": values{"memory": "500Mi"}, "evictionHard": values{"memory.available": "5%"}}
	})
	if e.Contract < 14 {
		put(e, l, at, "extraMounts", 15, func(name string) []values {
			m := values{"source": "/var/lib/longhorn"}
			put(e, m, name, "destination", 50, func(string) string { return "/var/lib/longhorn" })
			put(e, m, name, "type", 50, func(string) string { return "bind" })
			put(e, m, name, "options", 50, func(string) []string { return []string{"bind", "rshared", "rw"} })
			return []values{m}
		})
	}
	e.flag(l, at, "rotateServerCertificates", 10)
	put(e, l, at, "gracefulShutdown", 10, func(string) values { return values{"period": "3m", "criticalPods": "30s"} })
	if len(l) == 0 {
		delete(k, "kubelet")
	}
}

func (e kubernetesGenerator) oidc(k values) {
	if !e.is("kubernetes.oidc", 10) {
		return
	}
	const at = "kubernetes.oidc"
	o := values{"enabled": true, "issuerUrl": "https://issuer.example.com/realm"}
	put(e, o, at, "clientId", 40, func(string) string { return "talos" })
	put(e, o, at, "usernameClaim", 40, func(string) string { return "email" })
	put(e, o, at, "usernamePrefix", 40, func(string) string { return "oidc:" })
	put(e, o, at, "groupsClaim", 40, func(string) string { return "roles" })
	put(e, o, at, "groupsPrefix", 40, func(string) string { return "company:" })
	put(e, o, at, "groupMappings", 50, func(name string) []values {
		return []values{
			{"group": one(e, name+" group", "admins", "Zürich admins", "a/b:c"), "clusterRoles": []string{"cluster-admin"}},
			{"group": "developers", "roles": []values{{"name": "deployer", "namespace": "default"}}},
		}
	})
	k["oidc"] = o
}

func (e kubernetesGenerator) rbac(k values) {
	if !e.is("kubernetes.rbac", 10) {
		return
	}
	rules := []values{{"apiGroups": []string{"", "apps"}, "resources": []string{"pods", "deployments"}, "verbs": []string{"get", "list", "watch"}}}
	k["rbac"] = values{
		"roles":        []values{{"name": "deployer", "namespace": "kube-system", "rules": rules}},
		"clusterRoles": []values{{"name": "node:viewer", "rules": rules}},
	}
}
