package foreign

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// Layered reads a folder of patches in layers, as people write them for a script of
// theirs: cluster.env, a secrets bundle, patches for all machines, a role, and single
// machines. What `talosctl gen config` makes of them is the target.
func Layered(s Source) (*Origin, error) {
	r := reader{Source: s, origin: &Origin{Variables: map[string]secret.String{}}}
	l := layered{reader: &r}
	steps := []func() error{l.findEnvironment, l.readVariables, l.findPatches, l.readScripts, l.findMachines, l.readBundle, l.make}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	l.copies()
	l.hideSecrets()
	r.origin.Env = l.env
	r.origin.Target = "what talosctl gen config makes of " + l.bundleFile + " and the patches, in the order common, role, node"
	return r.origin, nil
}

// layered is a folder of patches in layers.
type layered struct {
	*reader
	dirs    []string // of the environment, the folder itself if it is the only one
	vars    shellVariables
	env     []byte // what cluster.env is to be
	envFile string
	patches []patchFile
	script  genScript
	members []member

	bundle     *machine.Bundle
	bundleFile string
}

// patchFile is a patch, and what it is for.
type patchFile struct {
	file  string
	layer string // common, a role, or nodes
	node  string // of a machine's own
	own   bool   // of the environment; else of all environments
	role  string // of the folder of a role in which a machine's own is
	raw   []byte // as it is in the folder
	plain []byte // decrypted
}

// member is a machine of the cluster.
type member struct{ name, role, address string }

// applies reports whether a patch is for a machine.
func (p patchFile) applies(m member) bool {
	return p.layer == "common" || p.layer == m.role || p.layer == nodesLayer && p.node == m.name
}

// make makes the configuration of each machine.
func (l *layered) make() error {
	config, err := l.genConfig()
	if err != nil {
		return err
	}
	var problems diag.List
	for _, m := range l.members {
		var patches []machine.Source
		for _, p := range l.patches {
			if p.applies(m) {
				patches = append(patches, machine.Source{File: p.file, Data: l.vars.substitute(p.plain, m.name)})
			}
		}
		text, err := config.Make(machine.Role(m.role), l.bundle, patches)
		if err != nil {
			problems.AddErr(err)
			continue
		}
		n := NodeFile{Name: m.name, File: l.fileOf(m), Address: m.address}
		made, err := newMachine(n, text)
		if err != nil {
			problems.AddErr(err)
			continue
		}
		l.origin.Machines = append(l.origin.Machines, made)
	}
	return problems.Err()
}

// fileOf is the file that is named when something of a machine is: its own patch, else
// what names it.
func (l *layered) fileOf(m member) string {
	for _, p := range l.patches {
		if p.node == m.name {
			return p.file
		}
	}
	return l.envFile
}

// copies are the patches as files of an environment. Those of the environment come
// after those of all: where that matters, and their names would not have it so, they get
// a z- in front.
func (l *layered) copies() {
	for _, p := range l.patches {
		dir, name := p.layer, path.Base(plainName(p.file))
		if p.layer == nodesLayer {
			dir = path.Join(nodesLayer, p.node)
		}
		if p.own && slices.ContainsFunc(l.patches, func(o patchFile) bool {
			return !o.own && o.layer == p.layer && o.node == p.node && path.Base(plainName(o.file)) >= name && overlap(o, p)
		}) {
			name = "z-" + name
		}
		data := p.raw
		if !sopsage.IsEncryptedYAML(p.raw) {
			data = quoted(l.vars.braced(p.raw))
		}
		l.origin.Copies = append(l.origin.Copies, Copy{From: p.file, To: path.Join("patches", dir, name), Data: data})
	}
}

// overlap reports whether two patches have a value in common.
func overlap(a, b patchFile) bool {
	places := map[string]bool{}
	visit := func(p patchFile, each func(place string)) {
		docs, _ := documents(p.file, quoted(p.plain)) // they were read before
		for _, doc := range docs {
			for _, root := range doc.Content {
				id := Text(root, "kind") + " " + Text(root, "name") + " "
				eachScalar(nil, root, func(path yamltext.Path, n *yaml.Node) {
					if last := len(path) - 1; last >= 0 && path[last].Key != "kind" && path[last].Key != "apiVersion" && path[last].Key != "name" {
						each(id + path.Pattern())
					}
				})
			}
		}
	}
	visit(a, func(place string) { places[place] = true })
	found := false
	visit(b, func(place string) { found = found || places[place] })
	return found
}

// plainName is the name of a file without what says that it is a template.
func plainName(file string) string {
	for _, suffix := range []string{".tpl", ".tmpl", ".template", ".envsubst", ".in"} {
		file = strings.TrimSuffix(file, suffix)
	}
	if strings.HasSuffix(file, ".yml") {
		return strings.TrimSuffix(file, ".yml") + ".yaml"
	}
	return file
}

// readBundle finds and reads the secrets of the cluster.
func (l *layered) readBundle() error {
	for _, dir := range slices.Concat(l.dirs, []string{"secrets/" + path.Base(l.dirs[0]), "secrets", "."}) {
		var found []string
		for _, file := range yamlIn(l.Files, dir) {
			if l.isBundle(file) {
				found = append(found, file)
			}
		}
		switch {
		case len(found) > 1:
			return diag.New(diag.Pos{File: found[1]}, "is a secrets bundle, and so is %s", found[0]).
				WithHint("an environment has one: put the other one elsewhere").WithCode(diag.Secrets)
		case len(found) == 1:
			return l.openBundle(found[0])
		}
	}
	if err := brokenBundle(l); err != nil {
		return err
	}
	return diag.New(diag.Pos{File: l.dirs[0]}, "has no secrets bundle").
		WithHint("put secrets.yaml there, which `talosctl gen secrets` wrote, encrypted with SOPS or not;\nof a cluster that runs, `talosctl gen secrets --from-controlplane-config` makes it").WithCode(diag.Secrets)
}

func (l *layered) openBundle(file string) error {
	data, err := l.read(file)
	if err != nil {
		return err
	}
	if l.bundle, err = machine.ParseBundle(data); err != nil {
		return diag.New(diag.Pos{File: file}, "%v", err).WithCode(diag.Secrets)
	}
	l.bundleFile = file
	l.Mask(l.bundle.Values()...)
	return nil
}
