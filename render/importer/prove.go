package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/schemas"
)

// prove renders the environment as it would be committed, decrypts what came out, and
// compares it with the configurations of the source. It returns how many values they
// have; one that differs is an error.
func (i *importing) prove(m *made, origin *foreign.Origin) (int, error) {
	found, values, err := i.differences(m.source, origin)
	if err != nil {
		return 0, err
	}
	var problems diag.List
	for _, d := range found {
		problems.Add(diag.New(diag.Pos{File: d.file}, "%s would be another one: nothing was written", d.what).
			WithHint("this is a fault of talosgen: please report it"))
	}
	return values, problems.Err()
}

// shows shows somebody the infrastructure that an environment leads to.
func (i *importing) shows(e *source.Environment, prove func(schemas.Infrastructure) error) error {
	if prove == nil {
		return nil
	}
	res, _, err := i.repo.RenderSources(i.ctx, e)
	if err != nil {
		return err
	}
	infra, err := res.Infrastructure()
	if err != nil {
		return err
	}
	return prove(infra)
}

// compare compares an environment that is there with the configurations of the source,
// by what it renders to: its files may look like anything.
func (i *importing) compare(report *Report, have *source.Environment, origin *foreign.Origin) error {
	found, values, err := i.differences(have, origin)
	if err != nil {
		return err
	}
	report.Values = values
	i.list(report, have.Raw)
	if len(found) == 0 {
		return nil
	}
	var some []string
	for _, d := range found[:min(len(found), shown)] {
		some = append(some, d.what)
	}
	if more := len(found) - len(some); more > 0 {
		some = append(some, fmt.Sprintf("and %d more", more))
	}
	return diag.New(diag.Pos{File: i.path("")}, "environment %q is there already, and renders to other configurations than %s: %s",
		i.env, origin.Target, strings.Join(some, "; ")).
		WithHint("an environment is never overwritten: take another name, and compare").WithCode(diag.Conflict)
}

// shown is how many differences an error names.
const shown = 5

// difference is a value that an environment renders otherwise than a machine has it.
type difference struct{ file, what string }

// differences renders an environment, and compares it with the configurations of the
// source. It also returns how many values they have.
func (i *importing) differences(e *source.Environment, origin *foreign.Origin) (found []difference, values int, err error) {
	_, clear, err := i.repo.RenderSources(i.ctx, e)
	if err != nil {
		return nil, 0, err
	}
	var problems diag.List
	for _, o := range origin.Machines {
		text, ok := clear[o.Name]
		delete(clear, o.Name)
		if !ok {
			found = append(found, difference{o.File, "node " + o.Name + " (not in the environment)"})
			continue
		}
		cfg, err := machine.ReadConfig("rendered/"+i.env+"/nodes/"+o.Name+".yaml", []byte(text.Reveal()))
		if err != nil {
			problems.AddErr(err)
			continue
		}
		node := residue.Node{Name: o.Name}
		node.Have, err = residue.Documents(cfg)
		problems.AddErr(err)
		node.Want, err = residue.Documents(o.Config)
		problems.AddErr(err)
		for _, c := range node.Differences() {
			found = append(found, difference{o.File, c.Place.String() + " of node " + o.Name})
		}
		for _, d := range node.Want {
			values += leaves(d.Root)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(clear)) {
		found = append(found, difference{i.path(source.ClusterFile), "node " + name + " (only in the environment)"})
	}
	return found, values, problems.Err()
}

// leaves counts the values of a document.
func leaves(n *yaml.Node) (count int) {
	if len(n.Content) == 0 {
		return 1
	}
	for i, c := range n.Content {
		if n.Kind == yaml.SequenceNode || i%2 == 1 {
			count += leaves(c)
		}
	}
	return count
}
