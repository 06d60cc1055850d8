package render

import (
	"context"
	"strings"

	"github.com/talosgen/talosgen/render/internal/addons"
	"github.com/talosgen/talosgen/render/internal/explain"
	"github.com/talosgen/talosgen/render/internal/model"
)

type (
	// Explained is a value of a machine configuration, or of an addon, with the layers
	// that had a say about it.
	Explained = explain.Value
	// Origin is a layer's say about a value.
	Origin = explain.Origin
)

// addonPrefix begins the name by which explain knows an addon.
const addonPrefix = "addon/"

// Explain names, for every value of a node's configuration at or below a path,
// the layers that set it. An empty path means the whole configuration. In place
// of a node, addon/<name> stands for the values of an addon.
func (r *Repo) Explain(ctx context.Context, env, nodeName, path string) ([]Explained, error) {
	c, err := r.compiler(ctx, env, false)
	if err != nil {
		return nil, err
	}
	if name, ok := strings.CutPrefix(nodeName, addonPrefix); ok {
		return addons.Explain(c.addons(), name, path)
	}
	nodes, err := c.Selected([]string{nodeName})
	if err != nil {
		return nil, err
	}
	return c.explain(nodes[0], path)
}

// explain is [Repo.Explain] for a node of a plan.
func (c *compiler) explain(n model.Node, path string) ([]Explained, error) {
	traced, err := c.configs.Trace(n)
	if err != nil {
		return nil, err
	}
	return explain.Node(traced, n.Name, path)
}
