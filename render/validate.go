package render

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/schemas"
)

// validate runs Talos' validation for a node, strictly at the newest contract.
// Below, what the library warns of are fields whose successor that version of
// Talos does not have yet, and its own `talosctl validate --strict` is silent.
func (c *compiler) validate(n node, cfg *machine.Config, found *findings) error {
	mode := machine.Cloud
	if c.config.Provider == schemas.Static {
		mode = machine.Metal
	}
	shadowed, err := cfg.Shadowed()
	if err != nil {
		return err
	}
	for _, path := range shadowed {
		found.add(n.Name, path+" of a patch has no effect: SysctlConfig, which options of cluster.yaml become, wins over it; write the patch as a SysctlConfig", false)
	}
	place, version, err := cfg.OtherInstaller(c.config.Talos.Version)
	if err != nil {
		return err
	}
	if place != "" {
		found.add(n.Name, fmt.Sprintf("%s installs Talos %s, and talos.version is %s: remove the image from the patch, or set talos.version", place, version, c.config.Talos.Version), true)
	}
	warnings, problems, err := cfg.Validate(mode, c.multiDoc)
	if err != nil {
		return err
	}
	if len(problems)+len(warnings) == 0 {
		return nil
	}
	secrets, err := secretValues(cfg)
	if err != nil {
		return err
	}
	for _, text := range problems {
		found.add(n.Name, "Talos does not accept the configuration: "+secret.Hide(text, secrets, c.repo.world.Masker.Readable()), false)
	}
	for _, text := range warnings {
		found.add(n.Name, secret.Hide(text, secrets, c.repo.world.Masker.Readable()), true)
	}
	return nil
}

// secretValues returns the secret values of a configuration.
func secretValues(cfg *machine.Config) ([]secret.String, error) {
	var values []secret.String
	for _, d := range cfg.Documents() {
		leaves, err := d.Leaves()
		if err != nil {
			return nil, err
		}
		isSecret, err := cfg.Secret(d)
		if err != nil {
			return nil, err
		}
		for i, l := range leaves {
			if isSecret[i] {
				values = append(values, secret.New(l.Value))
			}
		}
	}
	return values, nil
}

// findings gathers what validation says of nodes, so that what is true of a
// thousand nodes is said once.
type findings struct {
	env   string
	order []finding
	nodes map[finding][]string
}

type finding struct {
	text    string
	warning bool
}

func newFindings(env string) *findings {
	return &findings{env: env, nodes: map[finding][]string{}}
}

func (f *findings) add(node, text string, warning bool) {
	key := finding{text, warning}
	if len(f.nodes[key]) == 0 {
		f.order = append(f.order, key)
	}
	if !slices.Contains(f.nodes[key], node) {
		f.nodes[key] = append(f.nodes[key], node)
	}
}

func (f *findings) problems() diag.List { return f.list(false) }
func (f *findings) warnings() diag.List { return f.list(true) }

func (f *findings) list(warning bool) diag.List {
	var list diag.List
	for _, key := range f.order {
		if key.warning != warning {
			continue
		}
		nodes := f.nodes[key]
		object := "node " + nodes[0]
		if len(nodes) > 1 {
			object += fmt.Sprintf(" and %d more", len(nodes)-1)
		}
		p := diag.On(object, "%s", key.text)
		if !warning {
			p.WithHint("`talosgen explain %s %s <path>` shows which layer set a value", f.env, nodes[0])
		}
		list.Add(p)
	}
	return list
}
