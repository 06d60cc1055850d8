package chartfetch

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// index is what index.yaml of an HTTP repository says.
type index struct {
	Entries map[string][]indexEntry `yaml:"entries"`
}

type indexEntry struct {
	Version string   `yaml:"version"`
	Digest  string   `yaml:"digest"` // of the archive; may be missing, and may have sha256: in front
	URLs    []string `yaml:"urls"`
}

// index gets the index of a repository, once.
func (f *Fetcher) index(ctx context.Context, repository string) (*index, *url.URL, error) {
	base, err := checkURL(repository, "https")
	if err != nil {
		return nil, nil, err
	}
	if known := f.indexes[repository]; known != nil {
		return known, base, nil
	}
	at := join(base, "index.yaml")
	data, err := f.get(ctx, request{url: at, what: repository, limit: maxIndex})
	if err != nil {
		return nil, nil, err
	}
	parsed := &index{}
	if err := yaml.Unmarshal(data, parsed); err != nil || parsed.Entries == nil {
		return nil, nil, diag.On(repository, "its index.yaml is no index of charts").
			WithHint("is that the address of the repository, and not of a page about it?").WithCode(diag.Remote).WithCause(err)
	}
	if f.indexes == nil {
		f.indexes = map[string]*index{}
	}
	f.indexes[repository] = parsed
	return parsed, base, nil
}

// resolveHTTP finds a chart in an HTTP repository and gets it.
func (f *Fetcher) resolveHTTP(ctx context.Context, r chartlock.Reference) (chartlock.Entry, []byte, error) {
	e := chartlock.Entry{Reference: r}
	found, base, err := f.index(ctx, r.Repository)
	if err != nil {
		return e, nil, err
	}
	entries := found.Entries[r.Name]
	if len(entries) == 0 {
		return e, nil, noChart(r, slices.Sorted(maps.Keys(found.Entries)))
	}
	versions := make([]string, len(entries))
	for i, entry := range entries {
		versions[i] = entry.Version
	}
	version, ok := choose(r.Version, versions)
	if !ok {
		return e, nil, noVersion(r, versions)
	}
	e.Resolved = version
	entry := entries[slices.Index(versions, version)]
	data, err := f.archive(ctx, r, base, entry)
	if err != nil {
		return e, nil, err
	}
	if want := strings.TrimPrefix(entry.Digest, "sha256:"); want != "" && want != chartlock.Digest(data) {
		return e, nil, diag.On(r.String(), "the archive has the digest %s, and %s in the index of its repository", chartlock.Digest(data), want).
			WithHint("tell the maintainer of the repository; do not run it").WithCode(diag.Remote)
	}
	return e, data, nil
}

// getHTTP gets a version that is known.
func (f *Fetcher) getHTTP(ctx context.Context, e chartlock.Entry) ([]byte, error) {
	exact := e.Reference
	exact.Version = e.Resolved
	_, data, err := f.resolveHTTP(ctx, exact)
	return data, err
}

// archive gets the archive that an entry of an index names.
func (f *Fetcher) archive(ctx context.Context, r chartlock.Reference, base *url.URL, entry indexEntry) ([]byte, error) {
	if len(entry.URLs) == 0 {
		return nil, diag.On(r.String(), "the index of its repository has no URL for it").WithCode(diag.Remote)
	}
	at, err := join(base, "").Parse(entry.URLs[0])
	if err != nil {
		return nil, diag.On(r.String(), "the index of its repository has a URL that is none: %q", entry.URLs[0]).WithCode(diag.Remote).WithCause(err)
	}
	if _, err := checkURL(at.String(), "https"); err != nil {
		return nil, err
	}
	return f.get(ctx, request{url: at, what: describe(r, entry.Version), limit: maxArtifact})
}
