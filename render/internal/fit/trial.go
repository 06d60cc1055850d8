package fit

import (
	"maps"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/cleartext"
	"github.com/talosgen/talosgen/render/internal/compile"
	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/residue"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// render makes the configurations of an environment, beside those that it has to have.
func (m *builder) render(files map[string][]byte, secrets map[string]secret.String) ([]residue.Node, error) {
	all := maps.Clone(m.Shared)
	if all == nil {
		all = map[string][]byte{}
	}
	for name, data := range files {
		all[layer.InEnv(m.Env, name)] = data
	}
	vars, err := subst.ParseEnv(layer.InEnv(m.Env, "cluster.env"), files["cluster.env"])
	if err != nil {
		return nil, err
	}
	texts := &cleartext.Texts{Paths: slices.Sorted(maps.Keys(all)), Files: all, Decrypt: m.Decrypt, Mask: m.Mask}
	known := map[string]secret.String{}
	maps.Copy(known, m.Origin.Variables)
	maps.Copy(known, secrets)
	for name, s := range known {
		vars[name] = subst.Var{Value: s.Reveal(), Secret: true, Pos: diag.Pos{File: layer.InEnv(m.Env, secretsfile.Name)}}
		texts.SecretVariables = append(texts.SecretVariables, name)
	}
	made, err := model.New(model.Sources{Env: m.Env, Paths: texts.Paths, Files: all, Vars: vars, Secrets: &secretsfile.Secrets{}})
	if err != nil {
		return nil, err
	}
	readable := &secret.Readable{}
	placeholder, err := m.common.bundle(made.Config.Talos.ConfigContract, m.Now)
	if err != nil {
		return nil, err
	}
	c, err := compile.New(compile.Input{Model: made, Texts: texts, Bundle: m.Bundle, Now: m.Now, Placeholder: placeholder, Readable: readable, Public: readable})
	if err != nil {
		return nil, err
	}
	return m.compose(made, c)
}

func (m *builder) compose(made *model.Model, c *compile.Compiler) ([]residue.Node, error) {
	var nodes []residue.Node
	var problems diag.List
	for _, n := range made.Nodes {
		i := slices.IndexFunc(m.Origin.Machines, func(o foreign.Machine) bool { return o.Name == n.Name })
		cfg, err := c.Compose(n)
		if err != nil || i < 0 {
			problems.AddErr(err)
			continue
		}
		node := residue.Node{Name: n.Name, Role: n.Role, Pool: n.Pool}
		node.Have, err = residue.Documents(cfg)
		problems.AddErr(err)
		node.Want, err = m.common.documents(i, m.Origin.Machines[i].Config)
		problems.AddErr(err)
		nodes = append(nodes, node)
	}
	return nodes, problems.Err()
}

// lacking is how many values an environment without patches lacks; more than any if it
// cannot be.
func (m *builder) lacking(s settings) (int, error) {
	files, err := m.files(s)
	if err != nil {
		return 0, err
	}
	nodes, err := m.render(files, nil)
	if err != nil {
		return 0, &Refused{files, err}
	}
	return len(differences(nodes)), nil
}

// isControlPlane reports whether a machine is one.
func isControlPlane(o foreign.Machine) bool { return o.Role == string(machine.ControlPlane) }

// inEnv is the path of a file of the environment.
func (m *builder) inEnv(name string) string { return layer.InEnv(m.Env, name) }
