package config

import (
	"slices"
	"strconv"
)

// noGroup stands for no placement group, where the file gives those of nodes.
const noGroup = "none"

// inGroup tells whether the node with an index is in a placement group.
func (p pool) inGroup(index int) bool {
	if given := p.PlacementGroups[strconv.Itoa(index)]; given != "" {
		return given != noGroup
	}
	return p.placementGroup
}

// checkGiven looks at what the file gives to nodes by their indexes: a name belongs to
// one node, and what is for a node that is not there is worth a word.
func (ch hetznerRules) checkGiven() {
	owners := map[string]Node{}
	for _, n := range slices.Concat(ch.nodes, ch.surge) {
		if first, twice := owners[n.Name]; twice && !n.Dedicated && !first.Dedicated {
			at := n.givenName()
			if !ch.has(at...) {
				at = first.givenName()
			}
			if ch.has(at...) {
				ch.fail("give one of them another name", at, "two nodes are named %q", n.Name)
			}
		}
		owners[n.Name] = n
	}
	for _, p := range ch.pools {
		for key, given := range map[string]map[string]string{"names": p.Names, "placementGroups": p.PlacementGroups} {
			for _, index := range sortedKeys(given) {
				if i, err := strconv.Atoi(index); err == nil && !slices.Contains(p.indexNumbers(), i) {
					ch.warn("a node with that index gets it; remove the line if there will be none", sub(sub(p.path, key), index), "the pool has no node %s", index)
				}
			}
		}
	}
}

// givenName is where the file may give a node its name.
func (n Node) givenName() []string {
	return sub(sub(n.paths[0], "names"), strconv.Itoa(n.Index))
}
