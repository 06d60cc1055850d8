package config

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// checker looks at values together, and completes the configuration. A zero
// value that the file sets is one whose problem is reported already.
type checker struct {
	*Config
	problems *diag.List
}

func (ch *checker) check() {
	ch.checkExampleKey()
	ch.checkVersions()
	ch.checkSchematic()
	ch.checkProvider()
	pools := ch.pools()
	ch.checkPools(pools)
	ch.resolve(pools)
	ch.checkControlPlane()
	ch.checkNodes()
	ch.checkNetwork()
}

func (ch *checker) fail(hint string, at []string, message string, args ...any) {
	ch.problems.Add(diag.New(ch.Pos(at...), message, args...).WithHint("%s", hint))
}

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

// checkProvider refuses what belongs to the other provider.
func (ch *checker) checkProvider() {
	if ch.Provider == schemas.Static && ch.has("hetzner") {
		ch.fail("remove it, or set provider: hetzner", []string{"hetzner"}, "hetzner is not for provider static")
	}
	seen := map[string]bool{}
	for i, extension := range ch.Talos.Extensions {
		if extension != "" && seen[extension] {
			ch.fail("", []string{"talos", "extensions", strconv.Itoa(i)}, "the extension %s is listed twice", extension)
		}
		seen[extension] = true
	}
}

// checkPools looks at each pool by itself.
func (ch *checker) checkPools(pools []pool) {
	first := map[string][]string{}
	for _, p := range pools {
		at := append(slices.Clip(p.path), "name")
		switch {
		case p.name == "":
		case p.role == Worker && p.name == ControlPlanePool:
			ch.fail("", at, "%q is the name of the pool of control plane nodes", p.name)
		case first[p.name] != nil:
			ch.fail("the first one is on line "+strconv.Itoa(ch.Pos(first[p.name]...).Line), at, "a second pool named %q", p.name)
		default:
			first[p.name] = at
		}
		switch ch.Provider {
		case schemas.Static:
			ch.checkStaticPool(p)
		case schemas.Hetzner:
			ch.checkHetznerPool(p)
		}
	}
}

func (ch *checker) checkStaticPool(p pool) {
	for _, key := range []string{"count", "indexes", "type"} {
		if at := append(slices.Clip(p.path), key); ch.has(at...) {
			ch.fail("static nodes are listed under nodes", at, "%s is not for provider static", key)
		}
	}
	listed := ch.has(append(slices.Clip(p.path), "nodes")...)
	if ch.has(p.path...) && (!listed || p.Nodes != nil && len(p.Nodes) == 0) {
		ch.fail("nodes: [{name: …, match: {mac: …}, address: …}]", p.path, "%s has no nodes", display(p.path))
	}
}

func (ch *checker) checkHetznerPool(p pool) {
	at := func(key string) []string { return append(slices.Clip(p.path), key) }
	if ch.has(at("nodes")...) {
		ch.fail("give a count, or set provider: static", at("nodes"), "nodes is not for provider hetzner")
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
