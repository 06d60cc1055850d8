package config

import (
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/schemas"
)

// clusterImage is what the Talos image of all nodes is made of.
func clusterImage(c *Config) schemas.NodeImage {
	return schemas.NodeImage{Extensions: c.Talos.Extensions, ExtraKernelArgs: c.Talos.ExtraKernelArgs, Schematic: c.Talos.Schematic}
}

// Image is what the Talos image of a node is made of: what the cluster, its pool and
// itself say, and what addons need of all machines.
func (n Node) Image() schemas.NodeImage { return addImage(clusterImage(n.config), n.image) }

// addImage is the image of a pool or node inside of a cluster or pool: a schematic
// that is given by its id replaces everything, the rest comes in addition.
func addImage(to, own schemas.NodeImage) schemas.NodeImage {
	if own.Schematic != "" {
		return schemas.NodeImage{Schematic: own.Schematic}
	}
	return schemas.NodeImage{
		Extensions:      addMissing(to.Extensions, own.Extensions),
		ExtraKernelArgs: addMissing(to.ExtraKernelArgs, own.ExtraKernelArgs),
		Schematic:       to.Schematic,
	}
}

// addMissing adds what a list lacks at its end: the order decides the id of the
// schematic.
func addMissing(to, own []string) []string {
	all := slices.Clone(to)
	for _, text := range own {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// imageRules are about how the image of each node is given.
type imageRules struct {
	*reporter
	pools []pool
}

func (ch imageRules) check() {
	talos := keys("talos")
	ch.level(talos, clusterImage(ch.Config), nil)
	for _, p := range ch.pools {
		ch.level(p.path, p.NodeImage, [][]string{talos})
		for i, n := range p.Nodes {
			ch.level(sub(sub(p.path, "nodes"), strconv.Itoa(i)), n.NodeImage, [][]string{p.path, talos})
		}
	}
	for i, p := range ch.Autoscaler.NodePools {
		ch.level(sub(keys("autoscaler.nodepools"), strconv.Itoa(i)), p.NodeImage, [][]string{talos})
	}
}

// level makes sure that the image of a level is given in one way: nothing can be
// added to a schematic of which only the id is known.
func (ch imageRules) level(at []string, own schemas.NodeImage, above [][]string) {
	ch.unique(sub(at, "extensions"), "", own.Extensions)
	for i, name := range own.Extensions {
		if meant := versions.MeantExtension(name); meant != "" {
			ch.warn("did you mean "+strconv.Quote(meant)+"? The Image Factory refuses a schematic with an extension that it does not have",
				append(sub(at, "extensions"), strconv.Itoa(i)), "%q is no official extension that is known", name)
		}
	}
	for _, key := range []string{"extensions", "extraKernelArgs", "overlay"} {
		if !ch.has(sub(at, key)...) {
			continue
		}
		if ch.has(sub(at, "schematic")...) {
			ch.fail("the schematic with that id holds them, or remove the id and it is computed",
				sub(at, key), "%s beside %s", display(sub(at, key)), display(sub(at, "schematic")))
			continue
		}
		for _, level := range above {
			if ch.has(sub(level, "schematic")...) {
				ch.fail("give the schematic that holds them as well here, or what it consists of there",
					sub(at, key), "%s cannot be added to %s: an id does not tell what the schematic holds",
					key, display(sub(level, "schematic")))
				break
			}
		}
	}
}
