package importer

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
)

// prove renders the environment as it would be committed, decrypts what came out, and
// compares it with the configurations of the source. It returns how many values they
// have; one that differs is an error.
func (i *importing) prove(m *made, origin *foreign.Origin) (values int, err error) {
	_, clear, err := i.repo.RenderSources(i.ctx, m.source)
	if err != nil {
		return 0, err
	}
	var problems diag.List
	for _, o := range origin.Machines {
		text, ok := clear[o.Name]
		if !ok {
			problems.Add(diag.On("node "+o.Name, "is not rendered"))
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
			problems.Add(diag.New(diag.Pos{File: o.File}, "%s of node %s would be another one: nothing was written", c.Place, o.Name).
				WithHint("this is a fault of talosgen: please report it"))
		}
		for _, d := range node.Want {
			values += leaves(d.Root)
		}
	}
	return values, problems.Err()
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
