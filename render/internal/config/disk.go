package config

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/schemas"
)

// defaultInstallDisk is the disk of a Hetzner Cloud server.
const defaultInstallDisk = "/dev/sda"

// installDisk is the disk that Talos is installed to: a path, or what it is like.
type installDisk struct {
	path     string
	selector schemas.DiskSelector
}

// disk is what a pool says of it.
func (p pool) disk() installDisk { return installDisk{p.InstallDisk, p.DiskSelector} }

// installDisk is the first that is said: by levels, the nearest first, by the cluster,
// or by default.
func (ch resolver) installDisk(byDefault string, levels ...installDisk) installDisk {
	for _, l := range append(levels, installDisk{selector: ch.Talos.DiskSelector}) {
		if l != (installDisk{}) {
			return l
		}
	}
	return installDisk{path: byDefault}
}

// selectorOfMatch is the first contract whose documents have an expression for a disk.
const selectorOfMatch = 14

// diskRules are about how the disk is given that Talos is installed to.
type diskRules struct {
	*reporter
	pools []pool
}

func (ch diskRules) check() {
	ch.level(keys("talos"), ch.Talos.DiskSelector)
	for _, p := range ch.pools {
		ch.level(p.path, p.DiskSelector)
		for i, n := range p.Nodes {
			ch.level(sub(sub(p.path, "nodes"), strconv.Itoa(i)), n.DiskSelector)
		}
	}
}

// level makes sure that a disk is given in one way.
func (ch diskRules) level(at []string, s schemas.DiskSelector) {
	path, selector := sub(at, "installDisk"), sub(at, "diskSelector")
	match := sub(selector, "match")
	if !ch.has(selector...) {
		return
	}
	if ch.has(path...) {
		ch.fail("remove one of them: Talos would look for the disk with the selector alone", path, "installDisk beside diskSelector")
	}
	given := slices.DeleteFunc(keysOf(reflect.TypeFor[schemas.DiskSelector]()), func(key string) bool {
		return key == "match" || !ch.has(sub(selector, key)...)
	})
	switch {
	case len(given) == 0 && !ch.has(match...):
		ch.fail("for example diskSelector: {type: nvme, size: '>= 100GB'}", selector, "nothing to select a disk by")
	case s.Match == "":
		return
	case len(given) > 0:
		ch.fail("put all conditions into the expression, or remove it", match, "match beside %s", given[0])
	case ch.Talos.ConfigContract != "" && versions.Minor(ch.Talos.ConfigContract) < selectorOfMatch:
		ch.fail("use size, model, type and the others", match, "match is for configContract v1.14 and later, and it is %s", ch.Talos.ConfigContract)
	}
}
