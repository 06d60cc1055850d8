package apply

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/internal/cloud"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Builder is what it takes to make images.
type Builder struct {
	// Opens connections to the servers that images are made with.
	Dial image.Dialer
	// Makes their keys, which are never written anywhere.
	Random io.Reader
	// Where images come from, if not from the Image Factory.
	Mirrors image.Mirrors
	// Asks the Image Factory which extensions it has, before anything is made; nil:
	// nobody asks it.
	Factory http.RoundTripper
}

// imageBuilder makes and lists the snapshots with Talos of a project.
type imageBuilder struct {
	project *cloud.Client
	infra   *schemas.Infrastructure
	with    Builder
	version string // of talosgen
	clock   cloud.Clock
}

// missing are the images that the environment wants and the project does not have.
func (b *imageBuilder) missing(ctx context.Context) (missing []schemas.InfraSnapshot, err error) {
	for _, want := range b.infra.Images {
		found, err := b.project.Snapshots(ctx, want.Selector, want.Architecture)
		if err != nil {
			return nil, err
		}
		there := false
		for _, have := range found {
			there = there || have.Status == "available"
		}
		if !there {
			missing = append(missing, want)
		}
	}
	return missing, nil
}

// build makes images, all at once.
func (b *imageBuilder) build(ctx context.Context, wanted []schemas.InfraSnapshot, owner Owner, stage progress.Stage) error {
	builder := b.builder(owner)
	errs := make([]error, len(wanted))
	var all sync.WaitGroup
	for i, want := range wanted {
		all.Go(func() {
			step := imageStep(want, wanted)
			stage.Step(step, progress.Begun, "")
			_, errs[i] = builder.Make(ctx, want, func(text string) { stage.Step(step, progress.Note, text) })
			if errs[i] != nil {
				stage.Step(step, progress.Failure(errs[i]), errs[i].Error())
				return
			}
			stage.Step(step, progress.Done, "")
		})
	}
	all.Wait()
	var list diag.List
	for _, err := range errs {
		list.AddErr(err)
	}
	return list.Err()
}

// schematicShown is how much of the id of a schematic tells images apart.
const schematicShown = 8

// imageStep is the name of a step that makes an image, one of some: with its
// schematic, if there is another one for its architecture.
func imageStep(want schemas.InfraSnapshot, all []schemas.InfraSnapshot) string {
	name := "image " + image.Arch(want.Architecture)
	if slices.ContainsFunc(all, func(other schemas.InfraSnapshot) bool {
		return other.Architecture == want.Architecture && other.Selector != want.Selector
	}) {
		id := want.Labels["talos_schematic_id"]
		name += " " + id[:min(schematicShown, len(id))]
	}
	return name
}

// step makes an image as a step of a stage.
func (b *imageBuilder) step(stage progress.Stage, owner Owner) func(context.Context, schemas.InfraSnapshot) (int64, error) {
	builder := b.builder(owner)
	return func(ctx context.Context, want schemas.InfraSnapshot) (int64, error) {
		step := fmt.Sprintf("%s %s", cloudplan.Create, cloudplan.KeyOf(cloudplan.KindImage, cloudplan.ImageName(want)))
		return builder.Make(ctx, want, func(text string) { stage.Step(step, progress.Note, text) })
	}
}

// builder makes images for a run.
func (b *imageBuilder) builder(owner Owner) *image.Builder {
	return &image.Builder{
		Project: b.project, Run: owner.in(b.infra.Cluster), Desired: *b.infra, Clock: b.clock,
		Dial: b.with.Dial, Random: b.with.Random, Mirrors: b.with.Mirrors,
	}
}

// uses are the snapshots of the project, and what refers to them.
func (b *imageBuilder) uses(ctx context.Context, p image.Project) (uses []image.Use, err error) {
	if p.Snapshots, err = b.project.Snapshots(ctx, image.Selector, ""); err != nil {
		return nil, err
	}
	if p.Servers, err = b.project.Servers(ctx); err != nil {
		return nil, err
	}
	return p.Uses(), nil
}

// prune deletes those of the given snapshots that nothing refers to, and returns
// them.
func (b *imageBuilder) prune(ctx context.Context, uses []image.Use) (removed []image.Use, err error) {
	for _, u := range uses {
		if !u.Prunable() {
			continue
		}
		if err := b.project.RemoveSnapshot(ctx, u.ID); err != nil {
			return removed, err
		}
		removed = append(removed, u)
	}
	return removed, nil
}

// extensions asks the Image Factory for what it has, where there is one to ask.
func (b *imageBuilder) extensions(ctx context.Context, wanted []schemas.InfraSnapshot) (all []preflight.Extensions) {
	if b.with.Factory == nil {
		return nil
	}
	for _, e := range b.with.Mirrors.Extensions(wanted) {
		official, err := image.Official(ctx, b.with.Factory, e.URL, "talosgen/"+b.version)
		all = append(all, preflight.Extensions{URL: e.URL, Talos: e.Talos, Wanted: e.Names, Official: official, Err: err})
	}
	return all
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

// noProject says that a command is about Hetzner Cloud.
func noProject(env string) error {
	return diag.On("environment "+env, "its machines exist already: there is nothing at Hetzner Cloud").WithCode(diag.Usage)
}
