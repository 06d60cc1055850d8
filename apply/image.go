package apply

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/image"
	"github.com/talosgen/talosgen/apply/internal/node/reach"
	"github.com/talosgen/talosgen/apply/internal/progress"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

type (
	// ImageUse is a snapshot with Talos, and what refers to it.
	ImageUse = image.Use
	// ImageEnvironment is what an environment of the repository wants.
	ImageEnvironment = image.Environment
	// Autoscaler is what the configuration of a living autoscaler says of images.
	Autoscaler = image.Autoscaler
	// Mirrors say where images come from instead of the Image Factory.
	Mirrors = image.Mirrors
	// Dialer opens a connection to a server.
	Dialer = image.Dialer
)

// ParseMirrors reads URLs of images, such as https://mirror.example.com/{path}
// or arm64=https://example.com/talos.raw.xz#sha256=….
func ParseMirrors(texts []string) (Mirrors, error) { return image.ParseMirrors(texts) }

// ParseAutoscaler reads the configuration of a living autoscaler; file is its
// name, for errors.
func ParseAutoscaler(file string, text []byte) (Autoscaler, error) {
	return image.ParseAutoscaler(file, text)
}

// ImageArch returns an architecture of Hetzner Cloud as Talos names it.
func ImageArch(hetzner string) string { return image.Arch(hetzner) }

// ServerDialer connects to servers, through the HTTP proxy at a URL if that is
// not empty.
func ServerDialer(proxy string) (Dialer, error) {
	if proxy == "" {
		return reach.Direct{}.Dial, nil
	}
	p, err := reach.NewProxy(proxy, nil, reach.Direct{})
	if err != nil {
		return nil, err
	}
	return p.Dial, nil
}

// Builder is what it takes to make images.
type Builder struct {
	// Opens connections to the servers that images are made with.
	Dial Dialer
	// Makes their keys, which are never written anywhere.
	Random io.Reader
	// Where images come from, if not from the Image Factory.
	Mirrors Mirrors
	// Asks the Image Factory which extensions it has, before anything is made; nil:
	// nobody asks it.
	Factory http.RoundTripper
}

// MissingImages returns the images that the environment wants and the project
// does not have.
func (s *Session) MissingImages(ctx context.Context) (missing []schemas.InfraSnapshot, err error) {
	if s.project == nil {
		return nil, s.noProject()
	}
	err = s.stage("observe", 0, func(progress.Stage) error {
		for _, want := range s.env.Infrastructure.Images {
			found, err := s.project.Snapshots(ctx, want.Selector, want.Architecture)
			if err != nil {
				return err
			}
			there := false
			for _, have := range found {
				there = there || have.Status == "available"
			}
			if !there {
				missing = append(missing, want)
			}
		}
		return nil
	})
	return missing, err
}

// BuildImages makes images, all at once. Nobody else changes the cluster
// meanwhile. With nothing to make, it removes what dead runs left.
func (s *Session) BuildImages(ctx context.Context, wanted []schemas.InfraSnapshot, owner Owner) error {
	switch {
	case s.project == nil:
		return s.noProject()
	case len(wanted) == 0:
		return s.sweep(ctx, owner, false, false)
	}
	return s.locked(ctx, owner, func() error {
		return s.stage("build", len(wanted), func(stage progress.Stage) error {
			maker := s.imageMaker(owner)
			errs := make([]error, len(wanted))
			var all sync.WaitGroup
			for i, want := range wanted {
				all.Go(func() {
					step := "image " + ImageArch(want.Architecture)
					stage.Step(step, progress.Begun, "")
					_, errs[i] = maker.Make(ctx, want, func(text string) { stage.Step(step, progress.Note, text) })
					if errs[i] != nil {
						stage.Step(step, progress.Failed, errs[i].Error())
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
		})
	})
}

// imageMaker makes images for a run.
func (s *Session) imageMaker(owner Owner) *image.Maker {
	return &image.Maker{
		Project: s.project, Run: s.run(owner), Desired: s.env.Infrastructure, Clock: s.clock,
		Dial: s.builder.Dial, Random: s.builder.Random, Mirrors: s.builder.Mirrors,
	}
}

// run is what others see of a run.
func (s *Session) run(owner Owner) cloud.Run {
	return cloud.Run{Cluster: s.env.Infrastructure.Cluster, Owner: owner.Name, ID: owner.Run}
}

// Images lists the snapshots with Talos of the project, the newest first, and
// what refers to them: environments of the repository, servers, and living
// autoscalers, whose configurations are known by cluster.
func (s *Session) Images(ctx context.Context, environments []ImageEnvironment, autoscalers map[string]Autoscaler) (uses []ImageUse, err error) {
	if s.project == nil {
		return nil, s.noProject()
	}
	err = s.stage("observe", 0, func(progress.Stage) error {
		p := image.Project{Environments: environments, Autoscalers: autoscalers}
		if p.Snapshots, err = s.project.Snapshots(ctx, image.Selector, ""); err != nil {
			return err
		}
		if p.Servers, err = s.project.Servers(ctx); err != nil {
			return err
		}
		uses = p.Uses()
		return nil
	})
	return uses, err
}

// ServerTime is the time by Hetzner's clock, as of the last answer.
func (s *Session) ServerTime() time.Time {
	if s.project == nil {
		return s.clock.Now()
	}
	return s.project.ServerTime()
}

// PruneImages deletes those of the given snapshots that nothing refers to, and
// returns them.
func (s *Session) PruneImages(ctx context.Context, uses []ImageUse, owner Owner) (removed []ImageUse, err error) {
	err = s.locked(ctx, owner, func() error {
		return s.stage("prune", 0, func(stage progress.Stage) error {
			for _, u := range uses {
				if !u.Prunable() {
					continue
				}
				if err := s.project.RemoveSnapshot(ctx, u.ID); err != nil {
					return err
				}
				removed = append(removed, u)
			}
			return nil
		})
	})
	return removed, err
}

// noProject says that a command is about Hetzner Cloud.
func (s *Session) noProject() error {
	return diag.On("environment "+s.env.name, "its machines exist already: there is nothing at Hetzner Cloud").WithCode(diag.Usage)
}
