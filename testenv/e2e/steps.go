package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/schemas"
)

// labelRun is on the snapshots that a run made, with the name of its cluster:
// snapshots belong to no cluster.
const labelRun = schemas.LabelPrefix + "e2e"

// prepare makes the repository, with the cheapest servers that there are.
func (r *run) prepare(ctx context.Context) (err error) {
	if r.where, err = r.project.cheapest(ctx); err != nil {
		return err
	}
	fmt.Fprintf(r.out, "%s in %s\n", strings.Join(r.where.types, ", "), r.where.location)
	return r.repo.start(ctx, r.cluster, r.where)
}

// affordable refuses what costs too much, or what nobody knows the price of.
func (r *run) affordable(ctx context.Context) error {
	text, err := r.plan(ctx, "-o", "json")
	if err != nil {
		return err
	}
	month, currency, err := price(text)
	if err != nil {
		return err
	}
	// Hetzner takes each hour that has begun, up to the price of a month, which is
	// that of some 620 hours: see the prices of any server type.
	const hours = 620
	fmt.Fprintf(r.out, "it costs %.2f %s a month, gross: %.3f for each hour that begins\n", month, currency, month/hours)
	if month > r.options.maxMonth {
		return fmt.Errorf("%.2f %s a month is more than %.2f; -max-month allows more", month, currency, r.options.maxMonth)
	}
	return nil
}

// price is what a month costs after a plan, gross. A plan that leaves something
// out of it has none.
func price(planned []byte) (month float64, currency string, err error) {
	var plan struct {
		Cost struct {
			Currency string   `json:"currency"`
			Unknown  []string `json:"unknown"`
			After    struct {
				Gross string `json:"gross"`
			} `json:"after"`
		} `json:"cost"`
	}
	if err := json.Unmarshal(planned, &plan); err != nil {
		return 0, "", fmt.Errorf("the plan: %w", err)
	}
	if unknown := plan.Cost.Unknown; len(unknown) > 0 {
		return 0, "", fmt.Errorf("nobody knows what %s costs", strings.Join(unknown, ", "))
	}
	month, err = strconv.ParseFloat(plan.Cost.After.Gross, 64)
	if err != nil {
		return 0, "", fmt.Errorf("the plan has no cost: %w", err)
	}
	return month, plan.Cost.Currency, nil
}

// plan returns a plan, whether or not there is something to do.
func (r *run) plan(ctx context.Context, args ...string) ([]byte, error) {
	text, err := r.repo.do(ctx, append([]string{"plan", environment}, args...)...)
	if exit := (*exitError)(nil); errors.As(err, &exit) && exit.code == 1 {
		err = nil
	}
	return text, err
}

// buildImage makes the snapshot that servers are made from. One that was there
// before is used, and stays.
func (r *run) buildImage(ctx context.Context) (err error) {
	if r.images, err = r.fitting(ctx); err != nil {
		return err
	}
	r.changed = true
	if _, err := r.repo.do(ctx, "image", "build", environment); err != nil {
		return err
	}
	if len(r.images) > 0 {
		fmt.Fprintf(r.out, "none was made: %s was there before, and stays\n", r.images[0])
	}
	if err := r.labelImages(ctx); err != nil {
		return err
	}
	if now, err := r.fitting(ctx); err != nil || len(now) == 0 {
		return errors.Join(err, errors.New("there is no snapshot that fits"))
	}
	return nil
}

// fitting are the snapshots that fit what the environment asks for.
func (r *run) fitting(ctx context.Context) ([]object, error) {
	var infra schemas.Infrastructure
	text, err := os.ReadFile(filepath.Join(r.repo.root(), "rendered", environment, "infrastructure.yaml"))
	if err == nil {
		err = yaml.Unmarshal(text, &infra)
	}
	if err != nil || len(infra.Images) != 1 {
		return nil, errors.Join(err, fmt.Errorf("%d images in infrastructure.yaml, not one", len(infra.Images)))
	}
	selector, err := labelselector.Parse(infra.Images[0].Selector)
	if err != nil {
		return nil, err
	}
	all, err := r.project.objects(ctx)
	return slices.DeleteFunc(all, func(o object) bool { return o.kind.path != "images" || !selector.Matches(o.Labels) }), err
}

// labelImages says of the snapshots that were not there before, that they are
// this run's.
func (r *run) labelImages(ctx context.Context) error {
	now, err := r.fitting(ctx)
	if err != nil {
		return err
	}
	for _, o := range now {
		known := slices.ContainsFunc(r.images, func(old object) bool { return old.ID == o.ID })
		if known || o.Labels[labelRun] != "" {
			continue
		}
		labels := maps.Clone(o.Labels)
		labels[labelRun] = r.cluster
		if err := r.project.label(ctx, o, labels); err != nil {
			return err
		}
	}
	return nil
}

// label gives an object other labels.
func (p *project) label(ctx context.Context, o object, labels map[string]string) error {
	body, err := json.Marshal(map[string]any{"labels": labels})
	if err != nil {
		return err
	}
	return p.call(ctx, http.MethodPut, fmt.Sprintf("/%s/%d", o.kind.path, o.ID), string(body), nil)
}

// apply makes the cluster what the repository says, and then plans again:
// nothing is left to do.
func (r *run) apply(ctx context.Context) error {
	if _, err := r.repo.do(ctx, "apply", environment, "--yes"); err != nil {
		return err
	}
	text, err := r.repo.do(ctx, "plan", environment)
	if exit := (*exitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("after apply there is something to do:\n%s%w", text, err)
	}
	return err
}

// labelDrifts is the label that somebody changes beside talosgen.
const labelDrifts = "nodepool"

// verify looks whether there is one control plane and so many workers, which are
// on and have their labels.
func (r *run) verify(workers int) func(context.Context) error {
	return func(ctx context.Context) error {
		left, err := r.project.left(ctx, r.cluster)
		if err != nil {
			return err
		}
		pools := map[string]int{}
		for _, o := range left {
			if o.kind.path != "servers" {
				continue
			}
			pools[o.Labels[labelDrifts]]++
			if o.Status != "running" || o.Labels[schemas.LabelCluster] != r.cluster || !o.Protection.Delete {
				err = errors.Join(err, fmt.Errorf("%s is %s, protected: %v, labels %v", o, o.Status, o.Protection.Delete, o.Labels))
			}
		}
		if want := map[string]int{"control-plane": 1, "worker": workers}; !maps.Equal(pools, want) {
			err = errors.Join(err, fmt.Errorf("servers by pool: %v, not %v", pools, want))
		}
		fmt.Fprintf(r.out, "%d objects\n", len(left))
		return err
	}
}

// drift changes a label at Hetzner, as somebody may who does not know of
// talosgen. A plan finds it; the next apply puts it right.
func (r *run) drift(ctx context.Context) error {
	left, err := r.project.left(ctx, r.cluster)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(left, func(o object) bool { return o.kind.path == "servers" && o.Labels[labelDrifts] == "worker" })
	if i < 0 {
		return errors.New("there is no worker")
	}
	labels := maps.Clone(left[i].Labels)
	labels[labelDrifts] = "drifted"
	if err := r.project.label(ctx, left[i], labels); err != nil {
		return err
	}
	text, err := r.plan(ctx)
	if err == nil && !strings.Contains(string(text), "drifted") {
		err = fmt.Errorf("the plan does not have the label that was changed:\n%s", text)
	}
	return err
}

// change scales the workers to two and gives them a label, in Git.
func (r *run) change(ctx context.Context) error {
	if _, err := r.repo.do(ctx, "pool", "scale", environment, "worker", "2", "--no-render"); err != nil {
		return err
	}
	if err := r.repo.edit("cluster.yaml", [][2]string{{`count: 2`, "count: 2\n@labels: {example.com/e2e: changed}"}}); err != nil {
		return err
	}
	if err := r.repo.publish(ctx, "Two workers with a label"); err != nil {
		return err
	}
	if err := r.affordable(ctx); err != nil {
		return err
	}
	return r.apply(ctx)
}

// destroy removes the cluster, as a user would.
func (r *run) destroy(ctx context.Context) error {
	_, err := r.repo.do(ctx, "destroy", environment, "--yes-destroy", r.cluster, "--allow-made")
	return err
}

// nothingLeft removes the snapshot that the run made, which destroy must leave,
// and wants nothing else to be there.
func (r *run) nothingLeft(ctx context.Context) error {
	left, err := r.project.left(ctx, r.cluster)
	if err != nil {
		return err
	}
	for _, o := range left {
		if o.kind.path != "images" {
			err = errors.Join(err, fmt.Errorf("destroy has left %s", o))
		}
	}
	if err != nil {
		return err
	}
	_, err = r.project.sweep(ctx, r.cluster)
	return err
}
