package adopt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/sorting"
)

// controlPlanes is the name of the pool of control planes that is in no list.
const controlPlanes = "control-plane"

// pools puts nodes into pools.
type pools struct{ *mapper }

func (m pools) describe() {
	m.known()
	for _, n := range m.members {
		m.place(n)
	}
	m.unplaced()
	m.divide()
	if len(m.problems) > 0 {
		return
	}
	for _, name := range m.order() {
		m.out.Pools = append(m.out.Pools, m.pool(name, m.of(name)))
	}
}

// known refuses what people say of servers that no node is on.
func (m pools) known() {
	for _, name := range slices.Sorted(maps.Keys(m.Names)) {
		if !slices.ContainsFunc(m.members, func(n *member) bool { return n.server.Name == name }) {
			m.refuse("--names", "names of servers are written as Hetzner has them", "there is no server %s among the nodes", name)
		}
	}
}

// place takes what people say of a server, or else what its name says.
func (m pools) place(n *member) {
	if said, has := m.Names[n.server.Name]; has {
		n.pool, n.index = said.Pool, said.Index
		return
	}
	n.pool, n.index = split(n.server.Name, m.Cluster)
	if n.pool == controlPlanes && !n.ControlPlane || m.taken(n) {
		n.pool, n.index = "", 0
	}
}

// taken reports whether another node has the place of a node, or the pool is of the
// other role.
func (m pools) taken(n *member) bool {
	return slices.ContainsFunc(m.members, func(o *member) bool {
		return o != n && o.pool == n.pool && n.pool != "" && (o.index == n.index || o.ControlPlane != n.ControlPlane)
	})
}

// unplaced gives places to those whose names say none: after the others.
func (m pools) unplaced() {
	for _, n := range m.members {
		if n.pool != "" {
			continue
		}
		n.pool = map[bool]string{true: controlPlanes, false: "worker"}[n.ControlPlane]
		for n.index = 1; m.taken(n); n.index++ {
			if n.index > maxIndex {
				m.refuse("server "+n.server.Name, "say where it is with --names", "no pool has a place for it")
				return
			}
		}
	}
}

// divide makes pools of equal nodes: what a pool has once, all of its nodes have.
func (m pools) divide() {
	kinds := map[string][]string{}
	for _, n := range m.members {
		kind := fmt.Sprint(n.server.Type, n.subnet, n.server.Backups)
		base := n.pool
		at := slices.Index(kinds[base], kind)
		if at < 0 {
			at = len(kinds[base])
			kinds[base] = append(kinds[base], kind)
		}
		if at == 0 {
			continue
		}
		if _, said := m.Names[n.server.Name]; said {
			m.refuse("server "+n.server.Name, "give it a pool of its own in --names", "its type, its subnet or its backups are not those of the other nodes of the pool %s", base)
		}
		n.pool = base + "-" + strconv.Itoa(at+1)
		for i := at + 1; m.taken(n); i++ {
			n.pool = base + "-" + strconv.Itoa(i)
		}
	}
	for _, n := range m.members {
		if m.taken(n) {
			m.refuse("server "+n.server.Name, "say in --names which servers are in which pools: "+n.server.Name+": POOL/INDEX", "its place %s/%d is that of another one, or the pool is of the other role", n.pool, n.index)
		}
	}
}

// order are the names of the pools: control planes first, the one that is in no list
// before the others.
func (m pools) order() (names []string) {
	rank := map[string]string{}
	for _, n := range m.members {
		rank[n.pool] = map[bool]string{true: "0", false: "1"}[n.ControlPlane] + map[bool]string{true: "0", false: "1"}[n.pool == controlPlanes] + n.pool
	}
	names = slices.Collect(maps.Keys(rank))
	sorting.By(names, func(a, b string) int { return natural.Compare(rank[a], rank[b]) })
	return names
}

// of are the nodes of a pool, by index.
func (m *mapper) of(pool string) (nodes []*member) {
	for _, n := range m.members {
		if n.pool == pool {
			nodes = append(nodes, n)
		}
	}
	sorting.By(nodes, func(a, b *member) int { return cmp.Compare(a.index, b.index) })
	return nodes
}

// pool describes a pool.
func (m pools) pool(name string, nodes []*member) Pool {
	p := Pool{Name: name, ControlPlane: nodes[0].ControlPlane}
	set := func(key string, value any) { p.Options = append(p.Options, Option{key, value}) }
	var indexes []int
	names := map[string]string{}
	for _, n := range nodes {
		p.Nodes = append(p.Nodes, n.Name)
		indexes = append(indexes, n.index)
		if n.Name != fmt.Sprintf("%s-%s-%d", m.Cluster, name, n.index) {
			names[strconv.Itoa(n.index)] = n.Name
		}
	}
	if indexes[len(indexes)-1] == len(indexes) {
		set("count", len(indexes))
	} else {
		set("indexes", indexes)
	}
	set("type", nodes[0].server.Type)
	m.places(nodes, set)
	if len(names) > 0 {
		set("names", names)
	}
	m.addresses(nodes, set)
	m.groups(name, nodes, set)
	if nodes[0].server.Backups {
		set("backups", true)
	}
	if !p.ControlPlane && nodes[0].subnet != m.workerSubnet() {
		set("subnet", nodes[0].subnet)
	}
	return p
}

// places says where the servers of a pool are.
func (m pools) places(nodes []*member, set func(string, any)) {
	var locations, others []string
	for _, n := range nodes {
		if !slices.Contains(locations, n.server.Location) {
			locations = append(locations, n.server.Location)
		}
	}
	inTurn := !slices.ContainsFunc(nodes, func(n *member) bool {
		return locations[(n.index-1)%len(locations)] != n.server.Location
	})
	switch {
	case len(locations) == 1:
		set("location", locations[0])
	case inTurn:
		set("locations", locations)
	default:
		others = locations[1:]
		set("location", locations[0])
		set("fallbackLocations", others)
	}
}
