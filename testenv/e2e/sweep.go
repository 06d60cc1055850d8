package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// clusterPrefix begins the names of the clusters of runs. No person's cluster is
// named so: what has such a name is removed.
const clusterPrefix = "talosgen-e2e-"

// clusterName finds such a name, with the time at which the run began.
var clusterName = regexp.MustCompile(`\b` + clusterPrefix + `([0-9a-z]{6,7})-[0-9a-f]{4}\b`)

// newClusterName is the name of the cluster of a run that begins now: seconds
// since 1970 to the base of 36, and something that makes it unique.
func newClusterName(now time.Time, random uint16) string {
	return fmt.Sprintf("%s%s-%04x", clusterPrefix, strconv.FormatInt(now.Unix(), 36), random)
}

// begun is when the run began whose cluster has the name.
func begun(name string) time.Time {
	found := clusterName.FindStringSubmatch(name)
	seconds, err := strconv.ParseInt(found[1], 36, 64)
	if err != nil {
		return time.Time{} // the pattern allows what is no number of 64 bits
	}
	return time.Unix(seconds, 0)
}

// clusterOf is the cluster of a run that an object belongs to, by its name or
// any of its labels; empty for none.
func clusterOf(o object) string {
	if name := clusterName.FindString(o.Name); strings.HasPrefix(o.Name, clusterPrefix) && name != "" {
		return name
	}
	for _, value := range o.Labels {
		if clusterName.FindString(value) == value && value != "" {
			return value
		}
	}
	return ""
}

// left is what a cluster has left in the project.
func (p *project) left(ctx context.Context, cluster string) ([]object, error) {
	all, err := p.objects(ctx)
	return slices.DeleteFunc(all, func(o object) bool { return clusterOf(o) != cluster }), err
}

// clusters are those of all runs that have left something, in order.
func (p *project) clusters(ctx context.Context) (names []string, err error) {
	all, err := p.objects(ctx)
	for _, o := range all {
		if name := clusterOf(o); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// sweep removes what a cluster has left, without talosgen: servers must not go
// on costing money because talosgen has a mistake. It tells what it removed.
func (p *project) sweep(ctx context.Context, cluster string) (removed []string, err error) {
	const rounds, pause = 30, 2 * time.Second
	for round := range rounds {
		var left []object
		if left, err = p.left(ctx, cluster); err == nil && len(left) == 0 {
			return removed, nil
		}
		if round > 0 {
			if waited := p.sleep(ctx, pause); waited != nil {
				return removed, errors.Join(err, waited)
			}
		}
		for _, o := range left {
			if gone := p.remove(ctx, o); gone != nil {
				err = errors.Join(err, gone) // often it waits for another; the last round's counts
			} else if !slices.Contains(removed, o.String()) {
				removed = append(removed, o.String())
			}
		}
	}
	return removed, fmt.Errorf("%s is not all gone; remove it by hand: %w", cluster, err)
}

// remove removes an object, protected or not.
func (p *project) remove(ctx context.Context, o object) error {
	path := fmt.Sprintf("/%s/%d", o.kind.path, o.ID)
	if o.Protection.Delete && o.kind.protect != "" {
		if err := p.call(ctx, http.MethodPost, path+"/actions/change_protection", o.kind.protect, nil); err != nil {
			return err
		}
	}
	if len(o.AppliedTo) > 0 {
		body, err := json.Marshal(map[string]any{"remove_from": o.AppliedTo})
		if err != nil {
			return err
		}
		if err := p.call(ctx, http.MethodPost, path+"/actions/remove_from_resources", string(body), nil); err != nil {
			return err
		}
	}
	return p.call(ctx, http.MethodDelete, path, "", nil)
}
