package apply

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/image"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/schemas"
)

// CheckImages looks, before anything is made, whether the Image Factory has the
// extensions of images. It finds nothing if it has.
func (s *Session) CheckImages(ctx context.Context, wanted []schemas.InfraSnapshot) []Finding {
	return preflight.CheckExtensions(s.extensions(ctx, wanted))
}

// plannedImages are the images that a plan makes.
func plannedImages(p *cloudplan.Plan) (wanted []schemas.InfraSnapshot) {
	for _, want := range p.Desired.Images {
		made := func(c cloudplan.Change) bool {
			return c.Kind == cloudplan.KindImage && c.Action == cloudplan.Create && c.Name == cloudplan.ImageName(want)
		}
		if slices.ContainsFunc(p.Changes, made) {
			wanted = append(wanted, want)
		}
	}
	return wanted
}

// extensions asks the Image Factory for what it has, where there is one to ask.
func (s *Session) extensions(ctx context.Context, wanted []schemas.InfraSnapshot) (all []preflight.Extensions) {
	if s.builder.Factory == nil {
		return nil
	}
	for _, e := range s.builder.Mirrors.Extensions(wanted) {
		official, err := image.Official(ctx, s.builder.Factory, e.URL, "talosgen/"+s.env.version)
		all = append(all, preflight.Extensions{URL: e.URL, Talos: e.Talos, Wanted: e.Names, Official: official, Err: err})
	}
	return all
}
