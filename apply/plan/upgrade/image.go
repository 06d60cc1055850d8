package upgrade

import (
	"fmt"

	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
)

// image is one that a node needs. Program is that of Kubernetes which runs it; empty is
// the installer.
type image struct{ name, program string }

// images are those that a node needs in a phase. Before control planes change, every
// node has proven that it can get its own.
func (p phase) images(n pair) (images []image) {
	if n.recycled || p.group != groupOf(n.Node) && p.group != controlPlanes {
		return nil
	}
	if p.dueTalos(n) {
		images = append(images, image{name: n.image(p.talos)})
	}
	for _, program := range p.gets(n) {
		if program != Proxy { // it runs on all nodes, or on none
			images = append(images, image{n.program(program, p.kubernetes), program})
		}
	}
	return images
}

// gets are the programs of Kubernetes of a node that get the version of a phase, in it
// or in another one of the same hop.
func (p phase) gets(n pair) (names []string) {
	if p.kubernetes == "" || p.manifests || n.recycled {
		return nil
	}
	for _, name := range programs {
		if program, found := n.Programs[name]; found && moves(program.Configured, p.kubernetes, n.want.Kubernetes) {
			names = append(names, name)
		}
	}
	if moves(n.Kubelet, p.kubernetes, n.want.Kubernetes) {
		names = append(names, Kubelet)
	}
	return names
}

// program is the image of a program of Kubernetes in a version: from where Git has its
// own. It is empty if Git does not say where that is; see [refuser.unnamed].
func (n pair) program(name, version string) string {
	image, _ := nodeconfig.ImageAt(n.want.Images[name], version)
	return image
}

// configure gives a program of Kubernetes its version.
func (f *fleet) configure(n pair, p phase) Step {
	component := p.program
	if component == "" {
		component = Kubelet
	}
	return Step{Action: Configure, Node: n.Name, Component: component, Version: p.kubernetes, Image: n.program(component, p.kubernetes), Hop: p.name(),
		Risks: f.risks(n, p), Evict: p.drains(n) && !n.Drained, Section: n.follows(p)}
}

// unnamed refuses programs of which Git's configuration names no image with a tag: that
// of another version cannot be told.
func (f refuser) unnamed(p phase) (notes []Note) {
	for _, n := range f.pairs {
		for _, name := range p.gets(n) {
			if n.Reached && n.program(name, p.kubernetes) == "" {
				notes = append(notes, Note{Node: n.Name, Text: fmt.Sprintf("Git's configuration names no image of %s with a version as its tag", name),
					Hint: fmt.Sprintf("name one, as registry.example.com/%s:v%s", name, n.want.Kubernetes)})
			}
		}
	}
	return notes
}
