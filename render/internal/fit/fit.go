// Package fit makes an environment that renders to given machine configurations: the
// options of cluster.yaml that lead there, and patches for the rest. It is pure.
package fit

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
)

// Input is what an environment is made of.
type Input struct {
	Env    string
	Origin *foreign.Origin
	Bundle *machine.Bundle
	Now    time.Time
	// Shared are the files that all environments of the repository share, by their paths.
	Shared map[string][]byte
	// Decrypt decrypts one of them.
	Decrypt func(file string, data []byte) ([]byte, error)
	Mask    func(secret.String)
}

// Environment is what was made.
type Environment struct {
	Files     map[string][]byte // by their paths in the environment, without secrets
	Variables map[string]secret.String
	Notes     []string // what the user should know
}

// Make makes the environment. Differences that no patch takes away are problems.
func Make(in Input) (*Environment, error) {
	m := &builder{Input: in, versions: versionsOf(in.Origin), copied: map[string][]byte{}}
	if err := m.check(); err != nil {
		return nil, err
	}
	s, err := m.choose()
	if err != nil {
		return nil, err
	}
	e, err := m.patch(s)
	if err != nil {
		return nil, err
	}
	e.Notes = append(m.notes, naming{m}.notes()...)
	return e, sealed(m.Origin, m.Env, e.Files)
}

// Refused is the error of files that cannot be rendered. They are those of the
// environment that would have been made.
type Refused struct {
	Files map[string][]byte // by their paths in the environment
	Err   error
}

// Error says what is wrong with them.
func (r *Refused) Error() string { return r.Err.Error() }

// Unwrap returns that error, for errors.Is and errors.As.
func (r *Refused) Unwrap() error { return r.Err }

// builder makes an environment.
type builder struct {
	Input
	versions versionSet
	copied   map[string][]byte // files of the source, by their paths in the environment
	notes    []string
	common   common
}

// check looks for what stands in the way at once.
func (m *builder) check() error {
	var problems diag.List
	controlPlanes := 0
	for _, n := range m.Origin.Machines {
		if n.Role == string(machine.ControlPlane) {
			controlPlanes++
		}
	}
	if controlPlanes == 0 {
		problems.Add(diag.On("the folder", "no configuration is that of a control plane").
			WithHint("an environment has control planes, and the secrets of the cluster are in their configurations"))
	}
	return problems.Err()
}

// clusterComment begins cluster.yaml.
const clusterComment = `What was imported. Of what is not said here, talosgen's own default is what the
machines had already, or a patch says otherwise: talosgen explain shows which.`

// files are those of an environment without patches of its own.
func (m *builder) files(s settings) (map[string][]byte, error) {
	text, err := s.encode()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"cluster.yaml": text, "cluster.env": m.env()}
	for name, data := range m.copied {
		files[name] = data
	}
	return files, nil
}

// env is the text of cluster.env: the one that there was, and the versions.
func (m *builder) env() []byte {
	var out strings.Builder
	if len(m.Origin.Env) > 0 {
		out.Write(m.Origin.Env)
		if !strings.HasSuffix(out.String(), "\n") {
			out.WriteByte('\n')
		}
	} else {
		out.WriteString("# Variables of this environment: ${NAME} in cluster.yaml and in patches.\n")
	}
	out.WriteString(m.added())
	return []byte(out.String())
}

// rounds is how often patches are tried: a merge has its own ideas of some values.
const rounds = 12

// patch puts what the options do not make into patches.
func (m *builder) patch(s settings) (*Environment, error) {
	files, err := m.files(s)
	if err != nil {
		return nil, err
	}
	nodes, err := m.render(files, nil)
	if err != nil {
		return nil, &Refused{files, err}
	}
	var hints residue.Hints
	for range rounds {
		e := &Environment{Files: map[string][]byte{}, Variables: maps.Clone(m.Origin.Variables)}
		if e.Variables == nil {
			e.Variables = map[string]secret.String{}
		}
		for name, data := range files {
			e.Files[name] = data
		}
		if err := m.write(e, residue.Factor(nodes, hints)); err != nil {
			return nil, err
		}
		made, err := m.render(e.Files, e.Variables)
		if err != nil {
			return nil, &Refused{e.Files, err}
		}
		if len(differences(made)) == 0 {
			return e, nil
		}
		next, learned := hints.Learn(made)
		if !learned {
			return nil, m.stuck(made)
		}
		hints = next
	}
	return nil, errors.New("patches that lead to the configurations were not found")
}

func differences(nodes []residue.Node) (all []residue.Change) {
	for i := range nodes {
		all = append(all, nodes[i].Differences()...)
	}
	return all
}

// stuck names what no patch brings about.
func (m *builder) stuck(nodes []residue.Node) error {
	var problems diag.List
	for i := range nodes {
		for _, c := range nodes[i].Differences() {
			at := slices.IndexFunc(m.Origin.Machines, func(o foreign.Machine) bool { return o.Name == nodes[i].Name })
			pos := diag.Pos{File: m.Origin.Machines[at].File}
			if c.Value != nil {
				pos.Line = lineOf(m.Origin.Machines[at].Text, c.Path)
			}
			problems.Add(diag.New(pos, "%s of node %s has no way into an environment", c.Place, nodes[i].Name).
				WithHint("no patch leads to this value: change it in the source to what can be patched, and import again"))
		}
	}
	return problems.Err()
}

// lineOf is the line of the last key of a path in a text, as far as it is told by its
// spelling; 0 if it is not there.
func lineOf(text secret.String, keys []string) int {
	if len(keys) == 0 {
		return 0
	}
	for i, line := range strings.Split(text.Reveal(), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), keys[len(keys)-1]+":") {
			return i + 1
		}
	}
	return 0
}

// write writes changes as patches of their layers.
func (m *builder) write(e *Environment, layers map[residue.Layer][]residue.Change) error {
	hide := newHider(m, e)
	for _, l := range order(layers) {
		changes := hide.changes(l, layers[l])
		text, err := residue.Write(changes, comment(l, changes))
		if err != nil {
			return err
		}
		e.Files[m.place(l)] = text
	}
	return nil
}

// place is the file of a layer: behind what was copied there.
func (m *builder) place(l residue.Layer) string {
	dir := path.Join("patches", string(l))
	for name := range m.copied {
		if strings.HasPrefix(name, dir+"/") {
			return dir + "/zz-imported.yaml"
		}
	}
	return dir + ".yaml"
}

// order are layers, highest first.
func order(layers map[residue.Layer][]residue.Change) (names []residue.Layer) {
	for l := range layers {
		names = append(names, l)
	}
	rank := func(l residue.Layer) string { return fmt.Sprintf("%d%s", strings.Count(string(l), "/"), l) }
	sorting.By(names, func(a, b residue.Layer) int { return strings.Compare(rank(a), rank(b)) })
	return names
}

// comment says what a patch is for.
func comment(l residue.Layer, changes []residue.Change) string {
	kind, name, named := strings.Cut(string(l), "/")
	who := map[string]string{"common": "all machines", "controlplane": "all control planes", "worker": "all workers"}[kind]
	if named {
		who = map[string]string{"pools": "the machines of pool ", "nodes": "the machine "}[kind] + name
	}
	text := "What " + who + " had, as far as it is not in cluster.yaml."
	if slices.ContainsFunc(changes, func(c residue.Change) bool { return c.Value == nil || len(c.Value.Content) == 0 && c.Whole }) {
		text += "\n!delete and empty lists are for defaults of talosgen's that they did not have."
	}
	return text
}
