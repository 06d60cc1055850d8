package generate

import "fmt"

// cloudGenerator makes what only Hetzner Cloud has.
type cloudGenerator struct{ *environment }

// hetzner sets what a cluster has in Hetzner Cloud beside its servers.
func (e cloudGenerator) hetzner(c values) {
	n := inner(c, "network")
	h := values{"region": one(e, "hetzner.region", e.zone().locations...)}
	put(e, h, "hetzner", "networkZone", 20, func(string) string { return e.zone().name })
	put(e, c, "", "access", 12, func(name string) string { return one(e, name+" value", "public", "private") })
	put(e, c, "", "deleteProtection", 25, func(string) bool { return false })
	if c["access"] == "private" {
		g := inner(n, "natGateway")
		g["enabled"] = true
	}
	if n["natGateway"] != nil || n["publicIpv4"] == false || e.is("hetzner.sshKeys", 25) {
		h["sshKeys"] = []string{"my-key"}
	}
	if len(n) == 0 {
		delete(c, "network")
	}
	e.apiBalancer(h)
	e.firewall(h)
	e.adopted(h)
	e.names(h, "hetzner", 10)
	put(e, h, "hetzner", "dns", 12, func(string) values { return values{"records": e.records()} })
	e.images(h)
	if e.dedicated || e.is("hetzner.robot", 8) {
		h["robot"] = values{"userVariable": "ROBOT_USER", "passwordVariable": "ROBOT_PASSWORD", "apiUrl": "https://robot.example.com"}
		h["podRoutes"] = false
		e.env = append(e.env, "ROBOT_USER=#ws+abcdef")
		e.Secrets["ROBOT_PASSWORD"] = e.token(e.at+".robot", 24)
	} else {
		put(e, h, "hetzner", "podRoutes", 8, func(name string) bool { return one(e, name+" value", true, false) })
	}
	e.balancers(h)
	e.volumes(h)
	c["hetzner"] = h
}

func (e cloudGenerator) apiBalancer(h values) {
	if !e.is("hetzner.apiLoadBalancer", 15) {
		return
	}
	const at = "hetzner.apiLoadBalancer"
	lb := values{"enabled": true}
	put(e, lb, at, "type", 30, func(string) string { return "lb21" })
	put(e, lb, at, "location", 30, func(string) string { return e.near("nbg1") })
	put(e, lb, at, "publicNetwork", 30, func(string) bool { return false })
	h["apiLoadBalancer"] = lb
}

// adopted is what is taken as it is of a cluster that was adopted.
func (e cloudGenerator) adopted(h values) {
	const at = "hetzner.adopted"
	a := values{}
	e.flag(a, at, "keep", 8)
	put(e, a, at, "roleLabel", 8, func(string) string { return "control-plane" })
	put(e, a, at, "network", 8, func(name string) string { return "kept " + e.name(e.at+"."+name+" value", 20) })
	section(h, "adopted", a)
}

func (e cloudGenerator) firewall(h values) {
	const at = "hetzner.firewall"
	f := values{}
	switch {
	case e.is(at+".existingId", 6):
		f["existingId"] = e.of(at+".existingId value", 1000, 9999999)
		put(e, f, at, "applyTo", 50, func(string) string { return "servers" })
	default:
		put(e, f, at, "apiSource", 30, func(string) []string { return []string{"203.0.113.0/24", "2001:db8::/32"} })
		put(e, f, at, "kubeApiSource", 12, func(string) []string { return []string{"203.0.113.7/32"} })
		put(e, f, at, "talosApiSource", 12, func(string) []string { return []string{"203.0.113.8/32"} })
		put(e, f, at, "extraRules", 20, func(string) []values { return e.rules() })
	}
	if f["apiSource"] == nil && (f["kubeApiSource"] == nil) != (f["talosApiSource"] == nil) {
		f["kubeApiSource"], f["talosApiSource"] = []string{"203.0.113.7/32"}, []string{"203.0.113.8/32"} // else nobody reaches the other API
	}
	if f["apiSource"] != nil {
		e.flag(f, at, "useCurrentIpv4", 30)
		e.flag(f, at, "useCurrentIpv6", 30)
		e.sixOnly = f["useCurrentIpv6"] == true && f["useCurrentIpv4"] != true
	}
	lb, _ := h["apiLoadBalancer"].(values)
	if lb != nil && (f["apiSource"] != nil || f["kubeApiSource"] != nil) || e.is(at+".acknowledgeOpenLoadBalancer", 5) {
		f["acknowledgeOpenLoadBalancer"] = true
	}
	section(h, "firewall", f)
}

// rules are some of everything that a rule can be.
func (e cloudGenerator) rules() (all []values) {
	for i := range e.of("hetzner.firewall.extraRules", 1, 4) {
		at := fmt.Sprintf("hetzner.firewall.extraRules%d", i)
		r := values{"description": e.text(e.at + "." + at + ".description"), "protocol": one(e, at+".protocol", "tcp", "udp", "icmp", "esp", "gre")}
		if r["protocol"] == "tcp" || r["protocol"] == "udp" {
			r["port"] = one(e, at+".port", "443", "8080-8090", "any")
		}
		if e.is(at+".out", 30) {
			r["direction"], r["destinationIps"] = "out", []string{"203.0.113.0/24"}
		} else {
			r["sourceIps"] = []string{"0.0.0.0/0", "::/0"}
		}
		all = append(all, r)
	}
	return all
}

func (e cloudGenerator) records() (all []values) {
	targets := []string{"api", "controlPlane"}
	for i := range e.of("hetzner.dns.records", 1, 3) {
		at := fmt.Sprintf("hetzner.dns.records%d", i)
		r := values{"zone": "example.com", "name": []string{"api.k8s", "@", "*.apps"}[i]}
		put(e, r, at, "target", 50, func(name string) string { return one(e, name+" value", targets...) })
		put(e, r, at, "ttl", 40, func(name string) int { return one(e, name+" value", 60, 3600) })
		all = append(all, r)
	}
	return all
}

func (e cloudGenerator) images(h values) {
	all := values{}
	for _, arch := range []string{"amd64", "arm64"} {
		at := "hetzner.images." + arch
		i := values{}
		put(e, i, at, "build", 8, func(string) bool { return false })
		put(e, i, at, "selector", 8, func(string) string { return "latest" })
		put(e, i, at, "builderType", 8, func(string) string { return e.sold(map[string]string{"amd64": "cpx22", "arm64": "cax11"}[arch]) })
		put(e, i, at, "builderLocation", 8, func(string) string { return e.near("hel1") })
		section(all, arch, i)
	}
	section(h, "images", all)
}

func (e *environment) health(in values, at string) {
	put(e, in, at, "healthCheck", 40, func(name string) values {
		return values{"interval": e.of(name+".interval", 10, 60), "timeout": e.of(name+".timeout", 1, 10), "retries": e.of(name+".retries", 1, 5)}
	})
}

func (e cloudGenerator) balancers(h values) {
	if !e.is("hetzner.loadBalancers", 15) {
		return
	}
	const at = "hetzner.loadBalancers"
	lb := values{}
	e.flag(lb, at, "enabled", 30)
	put(e, lb, at, "type", 30, func(string) string { return "lb21" })
	put(e, lb, at, "location", 30, func(string) string { return e.near("fsn1") })
	e.choice(lb, at, "algorithm", 30, "round_robin", "least_connections")
	for _, key := range []string{"publicNetwork", "ipv6", "privateTargets", "privateIngress", "proxyProtocol"} {
		e.flag(lb, at, key, 30)
	}
	e.health(lb, at)
	section(h, "loadBalancers", lb)
}

func (e cloudGenerator) volumes(h values) {
	if !e.is("hetzner.volumes", 15) {
		return
	}
	const at = "hetzner.volumes"
	v := values{}
	put(e, v, at, "labels", 40, func(string) values { return values{"team": "data"} })
	put(e, v, at, "storageClasses", 60, func(name string) []values {
		first := values{"name": "hcloud-volumes-xfs", "default": true, "parameters": values{"csi.storage.k8s.io/fstype": "xfs"}}
		e.flag(first, name, "encrypted", 60)
		e.choice(first, name, "reclaimPolicy", 60, "Retain", "Delete")
		return []values{first}
	})
	section(h, "volumes", v)
}

// autoscaler sets the pools that follow the load.
func (e cloudGenerator) autoscaler(c values) {
	if !e.is("autoscaler", 12) {
		return
	}
	const at = "autoscaler"
	a := values{"enabled": true}
	put(e, a, at, "imageTag", 20, func(string) string { return "v1.36.2" })
	put(e, a, at, "discovery", 40, func(string) bool { return false })
	put(e, a, at, "cleanup", 40, func(string) bool { return true })
	put(e, a, at, "acknowledgeMetadata", 100, func(string) bool { return true })
	put(e, a, at, "scaleDown", 30, func(name string) values {
		v := values{}
		put(e, v, name, "enabled", 20, func(string) bool { return false })
		put(e, v, name, "utilizationThreshold", 50, func(name string) int { return e.of(name+" value", 0, 100) })
		put(e, v, name, "unneededTime", 50, func(string) string { return "30m" })
		put(e, v, name, "delayAfterAdd", 50, func(string) string { return "5m" })
		return v
	})
	var pools []values
	for i := range e.of(at+".nodepools", 1, 2) {
		at := fmt.Sprintf("autoscaler.nodepools%d", i)
		p := values{"name": fmt.Sprintf("burst-%d", i), "max": e.of(at+".max", 1, 5), "type": e.sold(one(e, at+".type", "cpx22", "cax11"))}
		put(e, p, at, "min", 40, func(string) int { return 1 })
		put(e, p, at, "location", 30, func(string) string { return e.near("nbg1") })
		put(e, p, at, "priority", 30, func(name string) int { return e.of(name+" value", 1, 3) })
		put(e, p, at, "labels", 30, func(string) values { return values{"example.com/tier": "batch"} })
		put(e, p, at, "annotations", 30, func(name string) values { return values{"example.com/owner": e.text(e.at + "." + name)} })
		put(e, p, at, "taints", 30, func(string) []string { return []string{"example.com/dedicated=batch:NoSchedule"} })
		put(e, p, at, "subnet", map[bool]int{false: 30, true: 100}[e.given], func(string) string { return fmt.Sprintf("%s.%d.128/25", e.cidr[:len(e.cidr)-len(".0.0/16")], 70+i) })
		e.image(p, at, 15)
		pools = append(pools, p)
	}
	a["nodepools"] = pools
	c[at] = a
}
