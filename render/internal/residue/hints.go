package residue

import "maps"

// Hints say where the plain way did not lead to the value: what a merge makes of a
// patch is for the merge to say.
type Hints struct {
	own   map[string]bool // nodes with places that they have for themselves
	taken map[string]bool // mappings that are written whole
	exact bool            // nothing is removed where it is not
}

// Exact are hints for patches of Talos' own: they fail where they remove what is not
// there, so what is removed is there on all nodes of a layer.
func Exact() Hints { return Hints{exact: true} }

func (h Hints) whole(p Place) bool { return h.taken[p.key()] && (len(p.Path) > 0 || !p.ID.IsMain()) }

func (h Hints) alone(node string, p Place) bool { return h.own[node+"\x00"+p.key()] }

// Learn returns hints that also know of values that patches did not bring about on some
// nodes. It reports false if there is nothing left to try.
func (h Hints) Learn(nodes []Node) (Hints, bool) {
	next := Hints{own: map[string]bool{}, taken: map[string]bool{}, exact: h.exact}
	maps.Copy(next.own, h.own)
	maps.Copy(next.taken, h.taken)
	learned := false
	for i := range nodes {
		for _, c := range nodes[i].Differences() {
			learned = next.learn(nodes[i].Name, c.Place) || learned
		}
	}
	return next, learned
}

// learn remembers a place on a node: first that it is the node's own, then that the
// mapping that it is in is written whole.
func (h Hints) learn(node string, p Place) bool {
	if !h.alone(node, p) {
		h.own[node+"\x00"+p.key()] = true
		return true
	}
	for n := len(p.Path) - 1; n >= 0 && (n > 0 || !p.ID.IsMain()); n-- {
		up := Place{p.ID, p.Path[:n]}
		if !h.taken[up.key()] || !h.alone(node, up) {
			h.taken[up.key()], h.own[node+"\x00"+up.key()] = true, true
			return true
		}
	}
	return false
}
