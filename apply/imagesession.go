package apply

import (
	"context"
	"time"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/schemas"
)

// MissingImages returns the images that the environment wants and the project
// does not have.
func (s *Session) MissingImages(ctx context.Context) (missing []schemas.InfraSnapshot, err error) {
	if s.project == nil {
		return nil, noProject(s.env.name)
	}
	err = s.log.stage("observe", 0, func(progress.Stage) (err error) {
		missing, err = s.images.missing(ctx)
		return err
	})
	return missing, err
}

// BuildImages makes images, all at once. Nobody else changes the cluster
// meanwhile. With nothing to make, it removes what dead runs left.
func (s *Session) BuildImages(ctx context.Context, wanted []schemas.InfraSnapshot, owner Owner) error {
	switch {
	case s.project == nil:
		return noProject(s.env.name)
	case len(wanted) == 0:
		return s.sweeper.sweep(ctx, owner, false, false)
	}
	return s.lock.locked(ctx, owner, func() error {
		return s.log.stage("build", len(wanted), func(stage progress.Stage) error {
			return s.images.build(ctx, wanted, owner, stage)
		})
	})
}

// CheckImages looks, before anything is made, whether the Image Factory has the
// extensions of images. It finds nothing if it has.
func (s *Session) CheckImages(ctx context.Context, wanted []schemas.InfraSnapshot) []preflight.Finding {
	return preflight.CheckExtensions(s.images.extensions(ctx, wanted))
}

// Images lists the snapshots with Talos of the project, the newest first, and
// what refers to them: environments of the repository, servers, and living
// autoscalers, whose configurations are known by cluster.
func (s *Session) Images(ctx context.Context, environments []image.Environment, autoscalers map[string]image.Autoscaler) (uses []image.Use, err error) {
	if s.project == nil {
		return nil, noProject(s.env.name)
	}
	err = s.log.stage("observe", 0, func(progress.Stage) (err error) {
		uses, err = s.images.uses(ctx, image.Project{Environments: environments, Autoscalers: autoscalers})
		return err
	})
	return uses, err
}

// PruneImages deletes those of the given snapshots that nothing refers to, and
// returns them.
func (s *Session) PruneImages(ctx context.Context, uses []image.Use, owner Owner) (removed []image.Use, err error) {
	err = s.lock.locked(ctx, owner, func() error {
		return s.log.stage("prune", 0, func(progress.Stage) (err error) {
			removed, err = s.images.prune(ctx, uses)
			return err
		})
	})
	return removed, err
}

// ServerTime is the time by Hetzner's clock, as of the last answer.
func (s *Session) ServerTime() time.Time {
	if s.project == nil {
		return s.log.clock.Now()
	}
	return s.project.ServerTime()
}
