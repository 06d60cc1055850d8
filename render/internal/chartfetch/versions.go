package chartfetch

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// patienceForVersions is how long the list of the versions of a chart may take, with
// all attempts.
const patienceForVersions = 2 * time.Minute

// Versions lists the versions of a chart that its repository has now, in no order.
func (f *Fetcher) Versions(ctx context.Context, r chartlock.Reference) ([]string, error) {
	ctx, cancel := f.WithTimeout(ctx, patienceForVersions)
	defer cancel()
	if r.OCI() {
		at, err := repositoryURL(r)
		if err != nil {
			return nil, err
		}
		return f.tags(ctx, r, at)
	}
	found, _, err := f.index(ctx, r.Repository)
	if err != nil {
		return nil, err
	}
	entries := found.Entries[r.Name]
	if len(entries) == 0 {
		return nil, noChart(r, slices.Sorted(maps.Keys(found.Entries)))
	}
	versions := make([]string, len(entries))
	for i, entry := range entries {
		versions[i] = entry.Version
	}
	return versions, nil
}

// Newer are the newest versions beside one: of the same major version, and of all.
// Both are at least that one. Versions that come before a release count if it is
// one itself; tags that are no versions do not.
func Newer(current string, versions []string) (sameMajor, newest string, err error) {
	is, err := semver.NewVersion(current)
	if err != nil {
		return "", "", err
	}
	best, bestSame := is, is
	for _, text := range versions {
		if !exact.MatchString(text) {
			continue // such as the tag of a signature
		}
		v, err := semver.NewVersion(text)
		if err != nil || v.Prerelease() != "" && is.Prerelease() == "" {
			continue
		}
		if v.GreaterThan(best) {
			best = v
		}
		if v.Major() == is.Major() && v.GreaterThan(bestSame) {
			bestSame = v
		}
	}
	return bestSame.Original(), best.Original(), nil
}
