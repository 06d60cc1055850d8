package config

import (
	"path"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

// checker looks at values together, and completes the configuration. A zero
// value that the file sets is one whose problem is reported already.
type checker struct {
	*Config
	problems *diag.List
	scope    *subst.Scope // for variables that the file names
	leniency
}

func (ch *checker) check() {
	ch.checkExampleKey()
	ch.checkVersions()
	ch.checkSchematic()
	ch.checkProvider()
	ch.setDefaults()
	pools := ch.pools()
	ch.checkPools(pools)
	ch.checkAutoscaler(pools)
	ch.resolve(pools)
	ch.setAddresses()
	ch.checkControlPlane()
	ch.checkNodes()
	ch.checkNetwork()
	ch.checkPinned(pools)
	ch.checkSharedSubnets(pools)
	ch.checkOffsets(pools)
	if ch.Provider == schemas.Hetzner {
		ch.checkHetzner(pools)
	}
	ch.checkTalos()
	ch.checkKubernetes()
	ch.checkCNI()
	ch.checkIngress()
	ch.checkGitOps()
}

func (ch *checker) fail(hint string, at []string, message string, args ...any) {
	ch.problems.Add(diag.New(ch.near(at), message, args...).WithHint("%s", hint))
}

func (ch *checker) warn(hint string, at []string, message string, args ...any) {
	ch.Warnings.Add(diag.New(ch.near(at), message, args...).WithHint("%s", hint))
}

// keys is the path of an option that is written with dots.
func keys(option string) []string { return strings.Split(option, ".") }

// checkExampleKey keeps the example key in the repository.
func (ch *checker) checkExampleKey() {
	file := ch.ExampleKeyFile()
	if file == ".." || strings.HasPrefix(file, "../") || path.IsAbs(file) {
		ch.fail("only an example key is named here; keys of your own are found as sops finds them",
			[]string{"secrets", "exampleKeyFile"}, "the example key is outside of the repository")
	}
}

// checkSchematic makes sure that a schematic is given in one way.
func (ch *checker) checkSchematic() {
	if !ch.has("talos", "schematic") {
		return
	}
	for _, key := range []string{"extensions", "extraKernelArgs"} {
		if ch.has("talos", key) {
			ch.fail("the schematic with that id holds them, or remove the id and it is computed",
				[]string{"talos", key}, "talos.%s beside talos.schematic", key)
		}
	}
}

// hetznerOnly are options that mean nothing for machines that exist already.
var hetznerOnly = []string{
	"access", "deleteProtection", "hetzner", "autoscaler", "ingress.loadBalancer", "ingress.loadBalancerPools",
	"network.cidr", "network.nodeSubnetMaskSize", "network.existing", "network.publicIpv4", "network.publicIpv6",
	"network.mtu", "network.serverLimit", "network.natGateway", "network.vswitch",
}

// checkProvider refuses what belongs to the other provider.
func (ch *checker) checkProvider() {
	if ch.Provider != schemas.Static {
		return
	}
	for _, option := range hetznerOnly {
		if ch.has(keys(option)...) {
			ch.fail("remove it, or set provider: hetzner", keys(option), "%s is not for provider static", option)
		}
	}
}

// checkPools looks at each pool by itself.
func (ch *checker) checkPools(pools []pool) {
	first := map[string][]string{}
	for _, p := range pools {
		if p.role == Worker {
			ch.checkPoolName(p.name, p.path, first)
		}
		switch ch.Provider {
		case schemas.Static:
			ch.checkStaticPool(p)
		case schemas.Hetzner:
			ch.checkHetznerPool(p)
		}
	}
}

// hetznerPoolOnly are options of pools that mean nothing for machines that
// exist already.
var hetznerPoolOnly = []string{
	"count", "indexes", "type", "fallbackTypes", "location", "locations", "fallbackLocations", "offset", "backups",
	"keepDisk", "rdns", "placementGroup", "subnet", "floatingIp", "floatingIpId", "privateVip",
}

func (ch *checker) checkStaticPool(p pool) {
	for _, key := range hetznerPoolOnly {
		if at := sub(p.path, key); ch.has(at...) {
			ch.fail("static nodes are listed under nodes", at, "%s is not for provider static", key)
		}
	}
	listed := ch.has(sub(p.path, "nodes")...)
	if ch.has(p.path...) && (!listed || p.Nodes != nil && len(p.Nodes) == 0) {
		ch.fail("nodes: [{name: …, match: {mac: …}, address: …}]", p.path, "%s has no nodes", display(p.path))
	}
}

func (ch *checker) checkHetznerPool(p pool) {
	at := func(key string) []string { return sub(p.path, key) }
	for _, key := range []string{"nodes", "vip"} {
		if ch.has(at(key)...) {
			hint := map[string]string{"nodes": "give a count, or set provider: static", "vip": "see privateVip and floatingIp"}[key]
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
