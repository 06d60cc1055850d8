package generate

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// nodeGenerator makes pools and nodes.
type nodeGenerator struct{ *environment }

// nodes makes the pools.
func (e nodeGenerator) nodes(c values) {
	cp, workers := values{}, []values{}
	count := e.of("nodes.workers.nodepools", 0, 3)
	taken := map[string]bool{"control-plane": true}
	for i := range count {
		at := fmt.Sprintf("nodes.workers.nodepools%d", i)
		name := e.name(e.at+"."+at+".name", 20)
		if taken[name] {
			continue
		}
		taken[name] = true
		workers = append(workers, e.workerPool(at, name, i))
	}
	if name := "metal"; e.vswitch && !taken[name] && e.zone().name == europe.name && e.is("nodes.dedicated", 70) {
		workers = append(workers, e.dedicatedPool(name))
	}
	e.controlPlane(c, cp)
	e.otherControlPlanes(cp, taken)
	n := values{"controlPlane": cp}
	if len(workers) > 0 {
		n["workers"] = values{"nodepools": workers}
	}
	c["nodes"] = n
}

func (e nodeGenerator) controlPlane(c, cp values) {
	const at = "nodes.controlPlane"
	put(e, cp, at, "allowScheduling", 20, func(name string) bool { return one(e, name+" value", true, false) })
	e.common(cp, at)
	if e.Provider == schemas.Static {
		e.staticPool(cp, at, "control-plane", one(e, at+".count", 1, 3), 10)
		if e.is(at+".vip", 30) {
			cp["vip"] = "192.168.1.5"
		} else {
			c["endpoint"] = one(e, "endpoint value", "https://192.168.1.10:6443", "https://api.example.com:6443", "https://api.example.com:443/")
		}
		return
	}
	even := e.is(at+".acknowledgeEvenCount", 5)
	if even {
		cp["count"], cp["acknowledgeEvenCount"] = 2, true
	} else {
		e.counted(cp, at, "control-plane", one(e, at+".count", 1, 1, 3))
	}
	put(e, cp, at, "offset", 10, func(name string) int { return e.of(name+" value", 0, 20) })
	e.servers(cp, at)
	e.privateIPs(cp, at, 64, 34)
	if e.is(at+".floatingIp", 10) {
		cp["floatingIp"] = true
		put(e, cp, at, "floatingIpId", 30, func(name string) int { return e.of(name+" value", 1000, 99999999) })
	}
	put(e, cp, at, "privateVip", 12, func(name string) bool { return one(e, name+" value", true, false) })
	put(e, c, "", "endpoint", 15, func(name string) string {
		return one(e, name+" value", "https://api.example.com:6443", "https://k8s.example.org:443")
	})
}

// otherControlPlanes are pools of control planes beside the first one, or in its place:
// with as many nodes as keep their number odd.
func (e nodeGenerator) otherControlPlanes(cp values, taken map[string]bool) {
	const at = "nodes.controlPlane.nodepools"
	if cp["acknowledgeEvenCount"] != nil || !e.is(at, 25) {
		return
	}
	name := e.name(e.at+"."+at+".name", 20)
	if taken[name] {
		return
	}
	e.planes = map[string]bool{name: true}
	p := values{"name": name}
	e.common(p, at)
	if e.Provider == schemas.Static {
		e.staticPool(p, at, name, 2, 60)
	} else {
		e.counted(p, at, name, 2)
		p["offset"] = 42
		e.servers(p, at)
		e.privateIPs(p, at, 64, 50)
	}
	cp["nodepools"] = []values{p}
}

// workerPool is a pool of workers.
func (e nodeGenerator) workerPool(at, name string, i int) values {
	p := values{"name": name}
	e.common(p, at)
	if e.Provider == schemas.Static {
		e.staticPool(p, at, name, e.of(at+".count", 1, 3), 20+10*i)
		return p
	}
	e.counted(p, at, name, e.of(at+".count", 0, 3))
	e.servers(p, at)
	if i > 0 || e.is(at+".offset", 30) {
		p["offset"] = 10 * i
	}
	put(e, p, at, "placementGroup", 20, func(string) bool { return false })
	if p["volumes"] == nil { // what stands in would be without their data
		put(e, p, at, "maxSurge", 15, func(string) int { return 1 })
	}
	put(e, p, at, "subnet", 12, func(string) string {
		delete(p, "offset")
		return fmt.Sprintf("%s.%d.0/25", strings.TrimSuffix(e.cidr, ".0.0/16"), 66+i)
	})
	in := 80
	if p["subnet"] != nil {
		in = 66 + i
	}
	e.privateIPs(p, at, in, 34+8*i)
	return p
}

// counted says how many nodes a pool has.
func (e nodeGenerator) counted(p values, at, name string, count int) {
	var indexes []int
	for i := range count {
		indexes = append(indexes, i+1)
	}
	if count > 0 && e.is(at+".indexes", 20) {
		indexes[count-1] += e.of(at+".indexes last", 0, 4)
		p["indexes"] = indexes
	} else {
		p["count"] = count
	}
	known := pool{name: name}
	given := values{}
	for _, i := range indexes {
		node := fmt.Sprintf("%s-%s-%d", e.Cluster, name, i)
		if e.is(fmt.Sprintf("%s.names%d", at, i), 5) {
			node = fmt.Sprintf("%s-%d", name, i)
			given[fmt.Sprint(i)] = node
		}
		known.nodes = append(known.nodes, node)
	}
	if len(given) > 0 {
		p["names"] = given
	}
	e.know(known)
}

// privateIPs gives nodes addresses that do not follow from the offset: behind those that
// do, in the smallest of subnets.
func (e nodeGenerator) privateIPs(p values, at string, subnet, first int) {
	indexes, _ := p["indexes"].([]int)
	if count, is := p["count"].(int); is {
		for i := range count {
			indexes = append(indexes, i+1)
		}
	}
	if len(indexes) == 0 || !e.is(at+".privateIps", 10) {
		return
	}
	ips := values{}
	for _, i := range []int{indexes[0], indexes[len(indexes)-1]} {
		ips[fmt.Sprint(i)] = fmt.Sprintf("%s.%d.%d", strings.TrimSuffix(e.cidr, ".0.0/16"), subnet, first+i)
	}
	p["privateIps"] = ips
}

// know notes a pool.
func (e nodeGenerator) know(p pool) {
	e.pools = append(e.pools, p)
	p.main = p.name == "control-plane" || e.planes[p.name]
	e.Workers = e.Workers || !p.main && len(p.nodes) > 0
}

// servers says what servers a pool has, and where.
func (e nodeGenerator) servers(p values, at string) {
	arm := e.is(at+".arm", 20)
	kinds := []string{"cpx22", "cpx32", "cx33"}
	if arm {
		kinds = []string{"cax11", "cax21"}
	}
	for i, kind := range kinds {
		kinds[i] = e.sold(kind)
	}
	p["type"] = one(e, at+".type", kinds...)
	put(e, p, at, "fallbackTypes", 12, func(string) []string { return kinds[len(kinds)-1:] })
	if e.is(at+".locations", 12) {
		p["locations"] = slices.Sorted(slices.Values(e.zone().locations))
	} else {
		put(e, p, at, "location", 15, func(name string) string { return e.near(one(e, name+" value", "fsn1", "nbg1")) })
	}
	put(e, p, at, "placementGroups", 8, func(name string) values { return values{"1": one(e, name+" value", "none", "shared group")} })
	put(e, p, at, "fallbackLocations", 10, func(string) []string { return []string{e.near("nbg1")} })
	put(e, p, at, "backups", 10, func(string) bool { return true })
	put(e, p, at, "keepDisk", 10, func(string) bool { return true })
	put(e, p, at, "keepPrimaryIps", 15, func(string) bool { return true })
	if e.Contract >= 10 {
		put(e, p, at, "volumes", 15, e.volumes)
	}
	e.names(p, at, 10)
}

// volumes are one or two of each node.
func (e nodeGenerator) volumes(at string) []values {
	list := []values{{"name": "data", "size": e.of(at+" size", 10, 60)}}
	if e.is(at+" two", 30) {
		list = append(list, values{"name": "logs", "size": 61 + e.of(at+" second size", 0, 9)})
	}
	return list
}

// names are for reverse DNS.
func (e *environment) names(in values, at string, percent int) {
	if !e.is(at+".rdns", percent) {
		return
	}
	r := values{}
	put(e, r, at+".rdns", "name", 60, func(string) string { return "{{ hostname }}.{{ ip-type }}.example.com" })
	put(e, r, at+".rdns", "ipv4", 40, func(string) string { return "{{ hostname }}.example.com" })
	put(e, r, at+".rdns", "ipv6", 40, func(string) string { return "{{ hostname }}.v6.example.com" })
	section(in, "rdns", r)
}

// common is what pools of both providers have.
func (e nodeGenerator) common(p values, at string) {
	put(e, p, at, "labels", 25, func(string) values {
		return values{"example.com/tier": "general", "team": one(e, at+".labels value", "a", "", "with_under.score")}
	})
	put(e, p, at, "annotations", 20, func(name string) values { return values{"example.com/note": e.text(e.at + "." + name)} })
	put(e, p, at, "taints", 15, func(string) []string {
		return e.some(e.at+"."+at+".taints list", "example.com/dedicated=db:NoSchedule", "example.com/slow:PreferNoSchedule", "other=:NoExecute")
	})
	put(e, p, at, "installDisk", 10, func(name string) string { return one(e, name+" value", "/dev/sda", "/dev/nvme0n1") })
	e.diskSelector(p, at, 8)
	e.image(p, at, 12)
}

// image is what a pool or node adds to the image of the cluster. Nothing can be
// added to a schematic of which only the id is known.
func (e *environment) image(p values, at string, percent int) {
	if e.is(at+".schematic", percent/4) {
		p["schematic"] = "f683308f6e49ec36d715bd41c90d800910552d8cbc015c8363ec350594535fa1"
		return
	}
	if e.is("talos.schematic", givenSchematics) {
		return
	}
	put(e, p, at, "extensions", percent, func(name string) []string {
		return e.some(e.at+"."+name, "siderolabs/qemu-guest-agent", "siderolabs/nvme-cli")
	})
	put(e, p, at, "extraKernelArgs", percent, func(string) []string { return []string{"mitigations=off"} })
}

// boot is which variant of the image a pool or node boots.
func (e *environment) boot(p values, at string, given bool) {
	put(e, p, at, "secureBoot", 8, func(string) bool { return !e.is(at+".secureBoot off", 30) })
	put(e, p, at, "platform", 8, func(name string) string { return one(e, name+" value", "metal", "nocloud", "vmware") })
	if given || p["schematic"] != nil || e.is("talos.schematic", givenSchematics) {
		return
	}
	put(e, p, at, "overlay", 8, func(string) values {
		return values{"name": "rpi_generic", "image": "siderolabs/sbc-raspberrypi"}
	})
}

// staticPool lists the machines of a pool.
func (e nodeGenerator) staticPool(p values, at, name string, count, first int) {
	if p["installDisk"] == nil && p["diskSelector"] == nil {
		p["installDisk"] = "/dev/sda"
	}
	e.boot(p, at, false)
	known := pool{name: name}
	var nodes []values
	for i := range count {
		n := e.machine(fmt.Sprintf("%s.nodes%d", at, i), first+i)
		n["name"] = fmt.Sprintf("n%d-%s", first+i, name)
		if p["schematic"] == nil {
			e.image(n, fmt.Sprintf("%s.nodes%d", at, i), 6)
		}
		e.boot(n, fmt.Sprintf("%s.nodes%d", at, i), p["schematic"] != nil)
		known.nodes = append(known.nodes, n["name"].(string))
		nodes = append(nodes, n)
	}
	p["nodes"] = nodes
	e.know(known)
}

// dedicatedPool lists dedicated servers beside servers of Hetzner Cloud.
func (e nodeGenerator) dedicatedPool(name string) values {
	const at = "nodes.dedicated"
	e.dedicated = true
	p := values{"name": name}
	e.common(p, at)
	if p["installDisk"] == nil && p["diskSelector"] == nil {
		p["installDisk"] = "/dev/sda"
	}
	put(e, p, at, "offset", 30, func(name string) int { return e.of(name+" value", 0, 5) })
	known := pool{name: name}
	var nodes []values
	for i := range e.of(at+".count", 1, 2) {
		at := fmt.Sprintf("%s.nodes%d", at, i)
		n := values{"name": fmt.Sprintf("d%d-%s", i+1, e.Cluster), "match": values{"mac": fmt.Sprintf("52:54:00:13:00:%02x", i+1)}}
		if e.is(at+".address", 40) {
			n["address"], n["gateway"] = fmt.Sprintf("198.51.100.%d/32", 11+i), "198.51.100.1"
		} else {
			n["bootAddress"] = fmt.Sprintf("198.51.100.%d", 11+i)
		}
		if e.is(at+".privateIp", 30) {
			n["privateIp"] = fmt.Sprintf("%s.88.%d", strings.TrimSuffix(e.cidr, ".0.0/16"), 20+i)
		} else {
			n["index"] = i + 1
		}
		put(e, n, at, "robotServer", 50, func(string) int { return 321 + i })
		put(e, n, at, "interface", 20, func(string) string { return "eno1" })
		put(e, n, at, "routes", 15, func(string) []values {
			return []values{{"destination": "10.30.0.0/16", "gateway": "198.51.100.2"}}
		})
		known.nodes = append(known.nodes, n["name"].(string))
		nodes = append(nodes, n)
	}
	p["nodes"] = nodes
	e.know(known)
	return p
}

// machine is one that exists already, with the n-th address.
func (e nodeGenerator) machine(at string, n int) values {
	match := values{"mac": fmt.Sprintf("52:54:00:12:%02x:%02x", n/256, n%256)}
	put(e, match, at+".match", "uuid", 20, func(string) string { return fmt.Sprintf("4c4c4544-0051-3010-8052-b4c04f4d%04x", n) })
	put(e, match, at+".match", "serial", 20, func(string) string { return fmt.Sprintf("5QX%dRM2", n) })
	put(e, match, at+".match", "fingerprint", 15, func(string) string {
		digest := sha256.Sum256([]byte{byte(n)})
		return base64.StdEncoding.EncodeToString(digest[:])
	})
	e.pinned = e.pinned || match["fingerprint"] != nil
	m := values{"match": match}
	if e.is(at+".dhcp", 15) {
		m["bootAddress"] = fmt.Sprintf("192.168.1.%d", n)
		return m
	}
	m["address"] = fmt.Sprintf("192.168.1.%d/24", n)
	put(e, m, at, "gateway", 60, func(string) string { return "192.168.1.1" })
	put(e, m, at, "bootAddress", 20, func(string) string { return fmt.Sprintf("192.168.1.%d", 100+n) })
	put(e, m, at, "interface", 15, func(string) string { return "eth0" })
	put(e, m, at, "vlanId", 10, func(name string) int { return e.of(name+" value", 1, 4094) })
	put(e, m, at, "mtu", 12, func(name string) int { return one(e, name+" value", 1500, 9000) })
	put(e, m, at, "routes", 12, func(string) []values {
		return []values{{"destination": "10.30.0.0/16", "gateway": "192.168.1.1"}}
	})
	put(e, m, at, "robotServer", 10, func(string) int { return 1_000_000 + n })
	put(e, m, at, "installDisk", 15, func(string) string { return "/dev/nvme0n1" })
	e.diskSelector(m, at, 8)
	put(e, m, at, "labels", 15, func(string) values { return values{"example.com/disk": "ssd"} })
	put(e, m, at, "annotations", 15, func(name string) values { return values{"example.com/rack": e.text(e.at + "." + name)} })
	put(e, m, at, "taints", 10, func(string) []string { return []string{"example.com/slow:NoExecute"} })
	return m
}
