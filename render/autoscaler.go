package render

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/compile"
)

// renderAutoscaled makes the configuration of the servers of each pool that the
// autoscaler scales.
func (c *compiler) renderAutoscaled(res *Result) error {
	var problems diag.List
	found := compile.NewFindings(c.Name)
	for _, n := range c.Autoscaled {
		problems.AddErr(c.addNode(n, found, res))
	}
	problems.Add(found.Problems()...)
	c.warnings.Add(found.Warnings()...)
	return problems.Err()
}
