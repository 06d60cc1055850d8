package layer

import (
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
)

// Arrange sorts the patches among the [Inputs] of an environment into layers. What
// lies under patches/ or envs/<env>/patches/ and is a patch for no node is an
// error, except a role's shared patch in an environment without that role.
func Arrange(inputs []string, env string, nodes []NodeRef) (*Layers, error) {
	a := arranger{
		env:    env,
		dir:    InEnv(env, ""),
		roles:  map[string]bool{},
		pools:  map[string]bool{},
		nodes:  map[string]bool{},
		layers: &Layers{files: map[place][]string{}},
	}
	for _, n := range nodes {
		a.roles[n.Role] = true
		a.pools[n.Pool] = true
		a.nodes[n.Name] = true
	}
	for _, file := range inputs {
		a.add(file)
	}
	for _, files := range a.layers.files {
		sorting.By(files, applyOrder)
	}
	return a.layers, a.problems.Err()
}

// applyOrder sorts the files of one layer: the file beside the directory
// first, then byte by byte.
func applyOrder(a, b string) int {
	if da, db := strings.Count(a, "/"), strings.Count(b, "/"); da != db {
		return da - db
	}
	return strings.Compare(a, b)
}

type arranger struct {
	env, dir            string
	roles, pools, nodes map[string]bool // those that have nodes
	layers              *Layers
	problems            diag.List
}

func (a *arranger) put(p place, file string) { a.layers.files[p] = append(a.layers.files[p], file) }

func (a *arranger) fail(file, hint, message string, args ...any) {
	a.problems.Add(diag.New(diag.Pos{File: file}, message, args...).WithHint("%s", hint))
}

func (a *arranger) add(file string) {
	if rest, ok := strings.CutPrefix(file, PatchesDir+"/"); ok {
		if !within(rest, AddonsDir) {
			a.shared(candidate{file, PatchesDir, rest})
		}
		return
	}
	rest, ok := strings.CutPrefix(file, a.dir+"/")
	if !ok {
		return
	}
	switch dir, below, nested := strings.Cut(rest, "/"); {
	case !nested || dir == AddonsDir:
	case dir == PatchesDir:
		a.environment(candidate{file, a.dir + "/" + PatchesDir, below})
	default:
		a.fail(a.dir+"/"+dir, suggestOr(dir, []string{PatchesDir, AddonsDir}, "directories of an environment"),
			"unknown directory %q", dir)
	}
}

// shared places a file under patches/.
func (a *arranger) shared(c candidate) {
	target, ok := a.target(c, AddonsDir)
	switch {
	case !ok:
	case target == "common":
		a.put(place{Shared, Common, ""}, c.file)
	default:
		a.put(place{Shared, Role, target}, c.file)
	}
}

// environment places a file under envs/<env>/patches/.
func (a *arranger) environment(c candidate) {
	switch dir, below, _ := strings.Cut(c.rest, "/"); {
	case dir == "pools" && below != "":
		a.member(candidate{c.file, c.base + "/pools", below}, Pool, a.pools)
		return
	case dir == "nodes" && below != "":
		a.member(candidate{c.file, c.base + "/nodes", below}, Node, a.nodes)
		return
	}
	target, ok := a.target(c, "pools", "nodes")
	switch {
	case !ok:
	case target == "common":
		a.put(place{Env, Common, ""}, c.file)
	case !a.roles[target]:
		a.fail(c.file, "remove it, or add such nodes to "+a.dir+"/cluster.yaml",
			"a patch that no node uses: environment %q has no %s nodes", a.env, target)
	default:
		a.put(place{Env, Role, target}, c.file)
	}
}

// member places a file of one pool or node.
func (a *arranger) member(c candidate, kind Kind, known map[string]bool) {
	target, ok := a.split(c)
	switch {
	case !ok:
	case known[target]:
		a.put(place{Env, kind, target}, c.file)
	case kind == Pool:
		a.fail(c.entry(), a.memberHint(target, kind), "environment %q has no nodes in a pool %q", a.env, target)
	default:
		a.fail(c.entry(), a.memberHint(target, kind), "environment %q has no node %q", a.env, target)
	}
}
