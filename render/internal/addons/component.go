package addons

import (
	"path"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/gitops"
)

// renderedDir is where rendered trees are in a repository.
const renderedDir = "rendered"

// component is the file of the component https, in the rendered tree; false if the
// environment has none.
func (b *builder) component(v *variant) (gitops.File, bool) {
	component, there := catalogue.HTTPS(b.secrets.facts(v))
	return gitops.File{Path: path.Join(catalogue.HTTPSComponent, kustomizationFiles[0]), Objects: []manifest.Object{component}}, there
}

// addComponent adds it to the files of the repository, where kustomizations find it
// after the first render: what is rendered is not read.
func (b *builder) addComponent(files memFS, v *variant) error {
	component, there := b.component(v)
	if !there {
		return nil
	}
	text, err := manifest.Encode(component.Objects...)
	files[path.Join(renderedDir, b.model.Env, component.Path)] = text
	return err
}
