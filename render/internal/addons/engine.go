package addons

import (
	"github.com/talosgen/talosgen/render/internal/addon"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// engine is what renders addons, from the files that were read and digested.
func (b *builder) engine(v *variant) (*addon.Engine, error) {
	files, err := b.reader.files(v)
	if err != nil {
		return nil, err
	}
	if err := b.addComponent(files, v); err != nil {
		return nil, err
	}
	store := &chartlock.Store{Files: files, Cache: b.in.ChartCache}
	if text, there := b.texts.Files[chartlock.File]; there {
		if store.Lock, err = chartlock.Parse(text); err != nil {
			return nil, err
		}
	}
	return &addon.Engine{Repository: files, Artifact: store.Artifact, Kubernetes: b.model.Config.Kubernetes.Version, APIVersions: b.apis, Bound: b.in.BoundTemplates}, nil
}
