package render

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/compile"
	"github.com/talosgen/talosgen/render/internal/tree"
)

// renderAutoscaled makes the configuration of the servers of each pool that the
// autoscaler scales.
func (c *compiler) renderAutoscaled(res *Result) error {
	var problems diag.List
	found := compile.NewFindings(c.Name)
	for _, n := range c.Autoscaled {
		data, err := c.renderNode(n, found)
		problems.AddErr(err)
		if data != nil {
			res.files = append(res.files, tree.File{Path: n.File(), Data: data})
		}
	}
	problems.Add(found.Problems()...)
	c.warnings.Add(found.Warnings()...)
	return problems.Err()
}
