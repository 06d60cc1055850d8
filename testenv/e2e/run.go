package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/talosgen/talosgen/internal/sim/hetznersim/conformance"
)

// run takes a cluster from nothing to nothing.
type run struct {
	project *project
	repo    *repository
	cluster string // its name
	out     io.Writer
	now     func() time.Time
	options options
	scripts []conformance.Script

	where   place
	changed bool     // something was made, or may have been
	images  []object // those that fit before the run
}

// options are what a person may choose.
type options struct {
	maxMonth  float64       // gross, in the currency of the project
	leftovers time.Duration // how old those of other runs are
	writes    bool          // conformance scripts that make something, too
}

// step is a part of a run.
type step struct {
	name string
	do   func(context.Context) error
}

// steps are those of a run, in order. Nothing is made before image.
func (r *run) steps() []step {
	return []step{
		{"leftovers", r.collect},
		{"repository", r.prepare},
		{"cost", r.affordable},
		{"conformance", r.conform},
		{"image", r.buildImage},
		{"apply", r.apply},
		{"verify", r.verify(1)},
		{"drift", r.drift},
		{"change", r.change},
		{"verify change", r.verify(2)},
		{"destroy", r.destroy},
		{"nothing left", r.nothingLeft},
	}
}

// What a run may take, and what cleaning up after it may: a run that hangs costs
// money.
const (
	longestRun     = time.Hour
	longestCleanUp = 30 * time.Minute
)

// all takes the steps, up to the first one that fails. Then what the run made is
// removed, also if the run was interrupted.
func (r *run) all(ctx context.Context) error {
	failed := r.takeAll(ctx)
	if failed == nil || !r.changed {
		return failed
	}
	fmt.Fprintf(r.out, "\n%v\nWhat was made is removed now, please wait; if this is killed, the next run does it.\n", failed)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestCleanUp)
	defer cancel()
	return errors.Join(failed, r.take(ctx, step{"clean up", r.cleanUp}))
}

func (r *run) takeAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, longestRun)
	defer cancel()
	for _, s := range r.steps() {
		if err := r.take(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// take takes a step and tells how it went.
func (r *run) take(ctx context.Context, s step) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	fmt.Fprintf(r.out, "\n=== %s\n", s.name)
	begin := r.now()
	err := s.do(ctx)
	result := "ok"
	if err != nil {
		err = fmt.Errorf("%s: %w", s.name, err)
		result = "FAILED"
	}
	fmt.Fprintf(r.out, "%s: %s, %.0f s\n", s.name, result, r.now().Sub(begin).Seconds())
	return err
}

// cleanUp removes everything after a failure: as a user would, and then whatever
// is left all the same.
func (r *run) cleanUp(ctx context.Context) error {
	// What was killed holds the lock; nobody else uses this cluster.
	_, unlocked := r.repo.do(ctx, "unlock", environment, "--yes")
	err := errors.Join(unlocked, r.destroy(ctx), r.labelImages(ctx))
	removed, swept := r.project.sweep(ctx, r.cluster)
	for _, what := range removed {
		fmt.Fprintf(r.out, "removed %s\n", what)
	}
	return errors.Join(err, swept)
}

// collect removes what runs left that were killed. What is younger may be in
// use: then this run does not begin.
func (r *run) collect(ctx context.Context) error {
	clusters, err := r.project.clusters(ctx)
	if err != nil {
		return err
	}
	for _, name := range clusters {
		if age := r.now().Sub(begun(name)); age < r.options.leftovers {
			return fmt.Errorf("%s began %s ago and may be at work; wait for it, or if it is dead: -leftovers 0", name, age.Round(time.Second))
		}
		removed, err := r.project.sweep(ctx, name)
		for _, what := range removed {
			fmt.Fprintf(r.out, "removed %s, which an earlier run left\n", what)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// conform runs the scripts that the simulator is tested with. What they make is
// named like the cluster, so that it is removed with it.
func (r *run) conform(ctx context.Context) (err error) {
	if r.options.writes {
		// First, or cleaning up would take every snapshot for the run's own.
		if r.images, err = r.fitting(ctx); err != nil {
			return err
		}
		r.changed = true
	}
	target := conformance.Target{Endpoint: r.project.endpoint, Token: r.project.token, Client: r.project.client,
		Run: r.cluster, Pause: func(ctx context.Context) error { return r.project.sleep(ctx, time.Second) }}
	var problems []error
	for _, s := range r.scripts {
		if s.Writes && !r.options.writes {
			continue
		}
		fmt.Fprintf(r.out, "%s\n", s.About)
		problems = append(problems, s.Run(ctx, target))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("the API is not as the simulator's scripts say:\n%w", err)
	}
	return nil
}
