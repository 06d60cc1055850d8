package charts

import (
	"context"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/chartfetch"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// What is known of a pinned chart.
const (
	Current  = "current"  // its repository has nothing newer
	Outdated = "outdated" // it has
	Unpinned = "unpinned" // the lock does not have the chart
	Unknown  = "unknown"  // nobody knows: see the error
)

// Age is a chart of a repository, with the newest versions that are there.
type Age struct {
	Name       string `json:"name"`
	Repository string `json:"repository"`
	Wanted     string `json:"wanted"` // in cluster.yaml, or by the catalogue; may be a range
	Locked     string `json:"locked,omitempty"`
	// The newest of the same major version, and of all; empty if they are not known.
	SameMajor string `json:"sameMajor,omitempty"`
	Newest    string `json:"newest,omitempty"`
	State     string `json:"state"`
	Error     string `json:"error,omitempty"` // why it is not known
}

// Ages compares the pinned charts of an environment, or of all, with what their
// repositories have now. What could not be compared is in the error, too.
func Ages(ctx context.Context, r *render.Repo, n Network, env string) ([]Age, error) {
	lock, err := open(r).lock()
	if err != nil {
		return nil, err
	}
	var only []string
	if env != "" {
		only = append(only, env)
	}
	needed, err := r.ChartsNeeded(ctx, only...)
	if err != nil {
		return nil, err
	}
	ages := []Age{}
	var problems diag.List
	for _, ref := range needed.References {
		if ref.URL != "" {
			continue // a manifest has no versions
		}
		age, err := ageOf(ctx, n, lock, ref)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		problems.AddErr(err)
		ages = append(ages, age)
	}
	return ages, problems.Err()
}

// IsOutdated reports whether there is something newer than one of them.
func IsOutdated(ages []Age) bool {
	return slices.ContainsFunc(ages, func(a Age) bool { return a.State == Outdated })
}

func ageOf(ctx context.Context, n Network, lock *chartlock.Lock, ref chartlock.Reference) (Age, error) {
	age := Age{Name: ref.Name, Repository: ref.Repository, Wanted: ref.Version, State: Unpinned}
	pinned, found := lock.Find(ref)
	if !found {
		age.Error = chartlock.File + " does not have it"
		return age, diag.New(diag.Pos{File: chartlock.File}, "has no %s", ref).WithHint("`talosgen charts lock` adds it")
	}
	age.Locked, age.State = pinned.Resolved, Unknown
	versions, err := n.Versions(ctx, ref)
	if err == nil {
		age.SameMajor, age.Newest, err = chartfetch.Newer(pinned.Resolved, versions)
	}
	switch {
	case err != nil:
		age.Error = err.Error()
		return age, err
	case age.Newest == pinned.Resolved:
		age.State = Current
	default:
		age.State = Outdated
	}
	return age, nil
}
