package config

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// poolRules are about each pool by itself, and about the names of all.
type poolRules struct {
	*reporter
	pools []pool
}

func (ch poolRules) check() {
	ch.checkPools()
	ch.checkAutoscaler()
	ch.checkNeeds()
}

// checkNeeds looks for the pools that addons say they run on.
func (ch poolRules) checkNeeds() {
	var names []string
	for _, p := range ch.pools {
		names = append(names, p.name)
	}
	for _, p := range ch.Autoscaler.NodePools {
		names = append(names, p.Name)
	}
	for _, addon := range slices.Sorted(maps.Keys(ch.Addons)) {
		for i, name := range ch.Addons[addon].Needs.Pools {
			if !slices.Contains(names, name) {
				ch.fail(cmp.Or(diag.Suggest(name, names), "pools: "+strings.Join(names, ", ")), []string{"addons", addon, "needs", "pools", strconv.Itoa(i)}, "there is no pool %q", name)
			}
		}
	}
}

// checkPools looks at each pool by itself.
func (ch poolRules) checkPools() {
	first := map[string][]string{}
	for _, p := range ch.pools {
		if !p.first() {
			ch.checkPoolName(p.name, p.path, first)
		}
		switch ch.Provider {
		case schemas.Static:
			ch.checkStaticPool(p)
		case schemas.Hetzner:
			if p.dedicated {
				ch.checkDedicatedPool(p)
				continue
			}
			ch.checkHetznerPool(p)
		}
	}
}

// hetznerPoolOnly are options of pools that mean nothing for machines that
// exist already.
var hetznerPoolOnly = []string{
	"count", "indexes", "type", "fallbackTypes", "location", "locations", "fallbackLocations", "offset", "privateIps", "names", "placementGroups", "backups",
	"keepDisk", "keepPrimaryIps", "volumes", "rdns", "placementGroup", "subnet", "maxSurge", "floatingIp", "floatingIpId", "privateVip",
}

func (ch poolRules) checkStaticPool(p pool) {
	for _, key := range hetznerPoolOnly {
		if at := sub(p.path, key); ch.has(at...) {
			ch.fail("static nodes are listed under nodes", at, "%s is not for provider static", key)
		}
	}
	ch.checkOverlays(p)
	listed := ch.has(sub(p.path, "nodes")...)
	if ch.has(p.path...) && (!listed || p.Nodes != nil && len(p.Nodes) == 0) {
		ch.fail("nodes: [{name: …, match: {mac: …}, address: …}]", p.path, "%s has no nodes", display(p.path))
	}
}

func (ch poolRules) checkHetznerPool(p pool) {
	at := func(key string) []string { return sub(p.path, key) }
	for _, key := range []string{"secureBoot", "platform", "overlay"} {
		if ch.has(at(key)...) {
			ch.fail("Hetzner's servers boot the image of their platform", at(key), "%s is not for provider hetzner", key)
		}
	}
	for _, key := range []string{"nodes", "vip"} {
		if ch.has(at(key)...) {
			hint := map[string]string{"nodes": "give a count; dedicated servers are for pools of workers, or set provider: static", "vip": "see privateVip and floatingIp"}[key]
			ch.fail(hint, at(key), "%s is not for provider hetzner", key)
		}
	}
	switch count, indexes := ch.has(at("count")...), ch.has(at("indexes")...); {
	case count && indexes:
		ch.fail("count: 3 is short for indexes: [1, 2, 3]", at("indexes"), "count and indexes exclude each other")
	case !count && !indexes && ch.has(p.path...):
		ch.fail("for example count: 3", p.path, "%s has neither count nor indexes", display(p.path))
	}
	seen := map[int]bool{}
	for i, index := range p.Indexes {
		if index != 0 && seen[index] {
			ch.fail("", append(at("indexes"), strconv.Itoa(i)), "the index %d is listed twice", index)
		}
		seen[index] = true
	}
}

// checkAutoscaler checks the pools that grow and shrink. Their names are in one
// set with those of other pools.
func (ch poolRules) checkAutoscaler() {
	a := ch.Autoscaler
	if a.Enabled && len(a.NodePools) == 0 {
		ch.warn("for example nodepools: [{name: burst, max: 5, type: cpx22}]", keys("autoscaler.enabled"), "an autoscaler without pools")
	}
	first := map[string][]string{}
	for _, p := range ch.pools {
		first[p.name] = sub(p.path, "name")
	}
	for i, p := range a.NodePools {
		at := []string{"autoscaler", "nodepools", strconv.Itoa(i)}
		ch.checkPoolName(p.Name, at, first)
		if p.Min > p.Max && ch.has(sub(at, "max")...) {
			ch.fail("", sub(at, "min"), "min %d is greater than max %d", p.Min, p.Max)
		}
		warnRemoved(ch.reporter, p.Type, []string{p.Location}, sub(at, "type"))
	}
}

// checkPoolName checks the name of a pool, and notes it.
func (ch poolRules) checkPoolName(name string, pool []string, first map[string][]string) {
	at := sub(pool, "name")
	switch length := len(ch.ClusterName) + len("-") + len(name); {
	case name == "":
		return // reported already
	case name == ControlPlanePool:
		ch.fail("", at, "%q is the name of the pool of control plane nodes", name)
	case first[name] != nil:
		ch.fail("the first one is on "+onLine(ch.Config, ch.Pos(first[name]...)), at, "a second pool named %q", name)
	case length > maxPoolName && ch.Provider == schemas.Hetzner:
		ch.fail("shorten one of them", at, "%s-%s has %d characters; servers are named after it, so it may have at most %d",
			ch.ClusterName, name, length, maxPoolName)
	}
	if first[name] == nil {
		first[name] = at
	}
}
