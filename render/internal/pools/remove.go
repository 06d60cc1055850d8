package pools

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/render/internal/config"
)

// Remove takes a pool out of the file.
func Remove(s Source, name string) (*Result, error) {
	e, err := open(s)
	if err != nil {
		return nil, err
	}
	p, err := e.pool(name)
	switch {
	case err != nil:
		return nil, err
	case p.First:
		return nil, diag.New(e.now.Pos(p.Path...), "a cluster needs its control plane").
			WithHint("name a node of it with --node, or scale it").WithCode(diag.Usage)
	}
	if err := e.removeItem(p.Path); err != nil {
		return nil, err
	}
	return e.finish()
}

// RemoveNodes takes nodes out of a pool; the others keep their names and
// addresses. A node is named by its name, with or without that of the cluster
// in front, or by its index.
func RemoveNodes(s Source, name string, nodes []string) (*Result, error) {
	e, err := open(s)
	if err != nil {
		return nil, err
	}
	p, err := e.pool(name)
	if err != nil {
		return nil, err
	}
	if p.Autoscaled {
		return nil, diag.New(e.now.Pos(p.Path...), "the autoscaler decides which nodes %q has", name).WithCode(diag.Usage)
	}
	gone, err := e.find(p, nodes)
	if err != nil {
		return nil, err
	}
	if gone[0].Index > 0 && !p.Machines {
		left := slices.DeleteFunc(slices.Clone(p.Indexes), func(index int) bool {
			return slices.ContainsFunc(gone, func(n config.Node) bool { return n.Index == index })
		})
		err = e.setIndexes(p, left)
	} else {
		err = e.removeStatic(p, gone)
	}
	if err != nil {
		return nil, err
	}
	return e.finish()
}

// find returns the nodes of a pool that are named.
func (e *editor) find(p config.Pool, names []string) ([]config.Node, error) {
	var all []string
	var found []config.Node
	var problems diag.List
	nodes := slices.DeleteFunc(slices.Clone(e.now.Resolve()), func(n config.Node) bool { return n.Pool != p.Name })
	for _, n := range nodes {
		all = append(all, n.Name)
	}
	for _, name := range names {
		i := slices.IndexFunc(nodes, func(n config.Node) bool {
			return n.Name == name || n.Index > 0 && (n.Name == e.now.ClusterName+"-"+name || itoa(n.Index) == name)
		})
		if i < 0 {
			hint := diag.Suggest(name, all)
			if hint == "" {
				hint = "nodes: " + strings.Join(all[:min(len(all), 20)], ", ")
			}
			problems.Add(diag.New(e.now.Pos(p.Path...), "the pool %q has no node %q", p.Name, name).WithHint("%s", hint).WithCode(diag.Usage))
			continue
		}
		found = append(found, nodes[i])
	}
	return found, problems.Err()
}

// removeStatic takes machines out of the list that a pool has.
func (e *editor) removeStatic(p config.Pool, gone []config.Node) error {
	var at [][]string
	for _, n := range gone {
		at = append(at, n.Path())
	}
	// From behind, so that the places in front stay right.
	sorting.By(at, func(a, b []string) int { return last(b) - last(a) })
	for _, path := range slices.CompactFunc(at, slices.Equal[[]string]) {
		if err := e.removeItem(path); err != nil {
			return err
		}
	}
	return nil
}

// removeItem takes an item out of the list that it is in.
func (e *editor) removeItem(path []string) error {
	if e.under != nil {
		return layered{e}.remove(path)
	}
	return e.edit(e.file.Remove(path[:len(path)-1], last(path)))
}
