package main

import "testing"

// recreateAll makes all nodes anew that have to be.
var recreateAll = []string{"apply", "dev", "--allow-dirty", "--yes", "--allow", "recreate/control-plane", "--allow", "recreate/worker", "--allow", "volumes/worker"}

// recreateTrees are what is in Git one after the other: where servers are, their type,
// and whether disks are encrypted.
var recreateTrees = []lifeTree{
	{workers: storing, backlog: "4096", kind: "cpx22"},
	{workers: storing, backlog: "4096", kind: "cpx22", region: "nbg1"},
	{workers: storing, backlog: "8192", kind: "cax11", region: "nbg1"},
	{workers: storing, backlog: "8192", kind: "cax11", region: "nbg1", more: "  diskEncryption: {ephemeral: false}\n"},
	{workers: surging, backlog: "8192", kind: "cax11", region: "fsn1"},
	{workers: surging, backlog: "8192", kind: "cax11"},
	{workers: surging, backlog: "8192", kind: "cax11", more: "  diskEncryption: {ephemeral: false}\n"},
}

// surging are two workers, and one more while they are recreated, which keep their
// addresses.
const surging = "2\n        maxSurge: 1\n        keepPrimaryIps: true"

// storing are two workers, each with a volume of its own.
const storing = "2\n        volumes: [{name: data, size: 20}]"

var recreateChapters = []chapter{
	{name: "from nothing", tree: 0, commands: [][]string{lifeApply}},
	{name: "all nodes move", tree: 1, commands: [][]string{recreateAll}},
	{name: "another architecture, with a smaller disk", tree: 2, commands: [][]string{recreateAll}},
	{name: "a disk is no more encrypted", tree: 3, commands: [][]string{recreateAll}},
	{name: "workers move that another one stands in for", tree: 4, commands: [][]string{recreateAll}},
	{name: "with its disk encrypted again, too", tree: 5, commands: [][]string{recreateAll}},
	{name: "a disk is no more encrypted, where addresses are kept", tree: 6, commands: [][]string{recreateAll}},
	{name: "all nodes move back", tree: 0, commands: [][]string{recreateAll}},
}

// TestRecreateKilled makes all nodes of a cluster anew, one after the other, for each
// reason that there is, and is killed at random calls to Hetzner, to nodes and to
// Kubernetes. However often, the cluster is then as without, and etcd never was at risk.
func TestRecreateKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Parallel()
	lived(t, repositoriesOf(t, recreateTrees), recreateChapters).killed(t, recreateKills, recreateSeed)
}

const (
	recreateKills = 30
	recreateSeed  = 3
)
