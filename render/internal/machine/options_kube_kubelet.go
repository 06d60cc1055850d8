package machine

import (
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/kubelet"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// KubeletOptions are those of what runs the pods of each node.
type KubeletOptions struct {
	ComponentOptions
	// Settings are values of its configuration file that follow from options:
	// the keys that lead to one, and what it is.
	Settings []KubeletSetting
	// ExtraConfig are more of them, as they stand in cluster.yaml; they win. It
	// may be nil.
	ExtraConfig *yaml.Node
	// ExtraMounts have a place up to contract 1.13 only.
	ExtraMounts []KubeletMount
}

// KubeletSetting is a value of the kubelet's configuration file.
type KubeletSetting struct {
	Path []string
	Option
}

// KubeletMount is a directory of the node that the kubelet can mount into pods.
type KubeletMount struct {
	Source, Destination, Type Option
	Options                   []Option
}

func (b kubernetesWriter) kubelet(o KubeletOptions) {
	b.component("machine.kubelet", o.ComponentOptions)
	b.kubeletConfig(b.at("machine.kubelet.extraConfig"), o)
	for _, m := range o.ExtraMounts {
		mount := mappingNode(m.Source.Pos)
		put(mount, "destination", stringNode(m.Destination.Value, m.Destination.Pos))
		put(mount, "type", stringNode(m.Type.Value, m.Type.Pos))
		put(mount, "source", stringNode(m.Source.Value, m.Source.Pos))
		var options []*yaml.Node
		for _, option := range m.Options {
			options = append(options, stringNode(option.Value, option.Pos))
		}
		if len(options) > 0 {
			put(mount, "options", sequenceNode(options...))
		}
		b.append(b.at("machine.kubelet.extraMounts"), mount)
	}
}

// kubeletConfig sets values of the configuration file. Some are Talos' own.
func (b kubernetesWriter) kubeletConfig(p place, o KubeletOptions) {
	for _, s := range o.Settings {
		b.put(p, stringNode(s.Value, s.Pos), s.Path...)
	}
	extra := o.ExtraConfig
	if extra == nil || len(extra.Content) == 0 {
		return
	}
	for i := 0; i < len(extra.Content); i += 2 {
		if name := extra.Content[i]; slices.Contains(kubelet.ProtectedConfigurationFields, name.Value) {
			b.problems.Add(diag.New(nodePos(b.file, name), "%s of the kubelet's configuration is set by Talos, and cannot be changed", name.Value).
				WithHint("remove it"))
		}
	}
	path := append(p.path[:len(p.path):len(p.path)], "")
	(&editor{}).overlay(b.parent(p.id, posOf(extra), path), extra)
}
