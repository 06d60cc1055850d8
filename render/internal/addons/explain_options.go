package addons

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/explain"
	"github.com/talosgen/talosgen/render/internal/layer"
)

// The layers of values that talosgen makes itself, by the names that explain
// gives them.
const (
	catalogueLayer = "talosgen's catalogue"
	optionsLayer   = layer.ClusterFile
)

// withoutOption are the values that the catalogue has for an addon if
// cluster.yaml leaves an option out.
type withoutOption struct {
	pos    diag.Pos // of the option
	depth  int
	needed bool // the file cannot do without it, so there is no other value
	values map[string]any
}

// withoutOptions are the values of an addon without each of the options that the
// file sets. Those that the addon is there for are left out.
func (b *builder) withoutOptions(name string, v *variant) []withoutOption {
	var all []withoutOption
	for _, option := range b.model.Config.Options() {
		file := b.model.Path(layer.ClusterFile)
		cfg, needed, err := config.LoadWithout(file, b.texts.Files, b.model.Scope, option)
		if err != nil {
			continue
		}
		facts := b.secrets.facts(v)
		facts.Cluster = cfg.Cluster
		own, there := catalogue.Values(facts, name)
		if !there {
			continue
		}
		if values, err := manifest.Normalize(own); err == nil {
			all = append(all, withoutOption{b.model.Config.Pos(option...), len(option), needed, values.(map[string]any)})
		}
	}
	return all
}

// ownOrigins say where a value comes from that talosgen has itself: the
// catalogue, and the option of cluster.yaml that makes it another one. If
// several do, the most particular of them is the one.
func ownOrigins(value any, at yamltext.Path, options []withoutOption, hidden bool) []explain.Origin {
	var by *withoutOption
	for i, o := range options {
		if !same(lookup(o.values, at), value) && (by == nil || o.depth >= by.depth) {
			by = &options[i]
		}
	}
	if by == nil {
		return []explain.Origin{{Layer: catalogueLayer, Value: printValue(value, hidden)}}
	}
	var origins []explain.Origin
	if before := lookup(by.values, at); before != nil && !by.needed {
		origins = append(origins, explain.Origin{Layer: catalogueLayer, Value: printValue(before, hidden)})
	}
	return append(origins, explain.Origin{Layer: optionsLayer, File: by.pos.File, Line: by.pos.Line, Value: printValue(value, hidden)})
}
