package render

import (
	"bytes"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/tree"
)

// renderAutoscaled makes the configuration of the servers of each pool that the
// autoscaler scales.
func (c *compiler) renderAutoscaled(res *Result) error {
	var problems diag.List
	found := newFindings(c.Name)
	for _, n := range c.Autoscaled {
		data, err := c.renderNode(n, found)
		problems.AddErr(err)
		if data != nil {
			res.files = append(res.files, tree.File{Path: n.File(), Data: data})
		}
	}
	problems.Add(found.problems()...)
	c.warnings.Add(found.warnings()...)
	return problems.Err()
}

// checkUserData makes sure that the autoscaler can give a new server its
// configuration: it hands it over as user data, compressed, which Talos takes
// since 1.9.
func (c *compiler) checkUserData(n model.Node, cfg *machine.Config) error {
	var text bytes.Buffer
	for i, d := range cfg.Documents() {
		if i > 0 {
			text.WriteString("---\n")
		}
		doc, err := d.Text()
		if err != nil {
			return err
		}
		text.Write(doc)
	}
	packed, err := catalogue.UserData(text.Bytes())
	if err != nil || len(packed) <= catalogue.MaxUserData {
		return err
	}
	return diag.New(n.Pos("name"), "the configuration of the servers of pool %s has %d bytes as user data, compressed; Hetzner takes %d", n.Pool, len(packed), catalogue.MaxUserData).
		WithHint("keep large files, manifests and certificates out of what workers get, or give the pool a count of nodes instead of the autoscaler")
}
