package chartfetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// Media types of charts in registries, from Helm's specification of charts as
// OCI artifacts. The second one is that of charts from before Helm 3.7.
const (
	manifestType    = "application/vnd.oci.image.manifest.v1+json"
	chartLayer      = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	oldChartLayer   = "application/tar+gzip"
	maxTagPages     = 100
	digestAlgorithm = "sha256:"
	dockerHub       = "registry-1.docker.io" // the API of docker.io
)

// ociManifest is what a manifest in a registry says of its content.
type ociManifest struct {
	Layers []ociLayer `json:"layers"`
}

type ociLayer struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
}

// repositoryURL is where the API of a registry has a chart:
// https://<host>/v2/<path>/<name>.
func repositoryURL(r chartlock.Reference) (*url.URL, error) {
	base, err := checkURL(r.Repository, "oci")
	if err != nil {
		return nil, err
	}
	at := *base
	at.Scheme = "https"
	if loopback(at.Hostname()) {
		at.Scheme = "http"
	}
	if at.Host == "docker.io" {
		at.Host = dockerHub
	}
	at.Path = "/v2" + strings.TrimSuffix(base.Path, "/") + "/" + r.Name
	return &at, nil
}

// resolveOCI finds a chart in a registry and gets it.
func (f *Fetcher) resolveOCI(ctx context.Context, r chartlock.Reference) (chartlock.Entry, []byte, error) {
	e := chartlock.Entry{Reference: r}
	at, err := repositoryURL(r)
	if err != nil {
		return e, nil, err
	}
	if e.Resolved, err = f.resolveTag(ctx, r, at); err != nil {
		return e, nil, err
	}
	manifest, err := f.registry(ctx, r, request{url: join(at, "manifests", tag(e.Resolved)), what: describe(r, e.Resolved), limit: maxDocument, accept: manifestType})
	if err != nil {
		return e, nil, err
	}
	e.Manifest = digestAlgorithm + chartlock.Digest(manifest)
	data, err := f.layer(ctx, e, at, manifest)
	return e, data, err
}

// getOCI gets what a lock pins.
func (f *Fetcher) getOCI(ctx context.Context, e chartlock.Entry) ([]byte, error) {
	at, err := repositoryURL(e.Reference)
	if err != nil {
		return nil, err
	}
	name := e.Manifest
	if name == "" {
		name = tag(e.Resolved)
	}
	manifest, err := f.registry(ctx, e.Reference, request{url: join(at, "manifests", name), what: describe(e.Reference, e.Resolved), limit: maxDocument, accept: manifestType})
	if err != nil {
		return nil, err
	}
	if got := digestAlgorithm + chartlock.Digest(manifest); e.Manifest != "" && got != e.Manifest {
		return nil, diag.On(e.Reference.String(), "the registry gives the manifest %s for %s", got, e.Manifest).WithCode(diag.Remote)
	}
	return f.layer(ctx, e, at, manifest)
}

// resolveTag finds the version for what was asked for. An exact version needs
// no list of all of them, which some registries refuse.
func (f *Fetcher) resolveTag(ctx context.Context, r chartlock.Reference, at *url.URL) (string, error) {
	if exact.MatchString(r.Version) {
		return r.Version, nil
	}
	tags, err := f.tags(ctx, r, at)
	if err != nil {
		return "", err
	}
	version, found := choose(r.Version, tags)
	if !found {
		return "", noVersion(r, tags)
	}
	return version, nil
}

// exact are versions that are no ranges.
var exact = regexp.MustCompile(`^v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$`)

// tag is a version as a tag, where + is not allowed.
func tag(version string) string { return strings.ReplaceAll(version, "+", "_") }

// tags lists the versions of a chart.
func (f *Fetcher) tags(ctx context.Context, r chartlock.Reference, at *url.URL) ([]string, error) {
	var all []string
	next := join(at, "tags", "list")
	for range maxTagPages {
		var header http.Header
		data, err := f.registry(ctx, r, request{url: next, what: r.String(), limit: maxDocument, header: &header})
		if err != nil {
			return nil, err
		}
		var page struct{ Tags []string }
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, diag.On(r.String(), "the registry lists no tags").WithCode(diag.Remote).WithCause(err)
		}
		for _, t := range page.Tags {
			all = append(all, strings.ReplaceAll(t, "_", "+"))
		}
		following, more := nextPage(next, header.Get("Link"))
		if !more {
			return all, nil
		}
		next = following
	}
	return nil, diag.On(r.String(), "the registry lists tags without end").WithCode(diag.Remote)
}

// nextPage reads the header Link: </v2/…>; rel="next". It stays on the host.
func nextPage(at *url.URL, link string) (*url.URL, bool) {
	target, rel, found := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	if !found || !strings.Contains(rel, `"next"`) {
		return nil, false
	}
	next, err := at.Parse(target)
	return next, err == nil && next.Host == at.Host && next.Scheme == at.Scheme
}

// layer gets the archive that a manifest names.
func (f *Fetcher) layer(ctx context.Context, e chartlock.Entry, at *url.URL, manifest []byte) ([]byte, error) {
	var m ociManifest
	err := json.Unmarshal(manifest, &m)
	i := slices.IndexFunc(m.Layers, func(l ociLayer) bool { return l.MediaType == chartLayer || l.MediaType == oldChartLayer })
	if err != nil || i < 0 {
		return nil, diag.On(e.Reference.String(), "is no chart: what is there has another type").WithCode(diag.Remote).WithCause(err)
	}
	digest := m.Layers[i].Digest
	data, err := f.registry(ctx, e.Reference, request{url: join(at, "blobs", digest), what: describe(e.Reference, e.Resolved), limit: maxArtifact})
	if err != nil {
		return nil, err
	}
	if got := digestAlgorithm + chartlock.Digest(data); got != digest {
		return nil, diag.On(e.Reference.String(), "the registry gives %s for %s", got, digest).WithCode(diag.Remote)
	}
	return data, nil
}

// registry gets something from a registry, with a token if it wants one.
func (f *Fetcher) registry(ctx context.Context, r chartlock.Reference, q request) ([]byte, error) {
	var header http.Header
	if q.header == nil {
		q.header = &header
	}
	key := q.url.Host + " " + r.Repository + "/" + r.Name
	if token := f.tokens[key]; token != "" {
		q.authorization = "Bearer " + token
	}
	data, err := f.get(ctx, q)
	var code statusError
	if !errors.As(err, &code) || code != http.StatusUnauthorized {
		return data, err
	}
	token, failed := f.token(ctx, q, q.header.Get("WWW-Authenticate"))
	switch {
	case failed != nil:
		return nil, failed
	case token == "":
		return nil, err
	}
	if f.tokens == nil {
		f.tokens = map[string]string{}
	}
	f.tokens[key] = token
	q.authorization = "Bearer " + token
	return f.get(ctx, q)
}

var parameter = regexp.MustCompile(`(\w+)="([^"]*)"`)

// token asks the service that a registry names for a token, as the
// specification of the distribution API says. Empty if it names none.
func (f *Fetcher) token(ctx context.Context, q request, challenge string) (string, error) {
	if !strings.HasPrefix(strings.ToLower(challenge), "bearer ") {
		return "", nil
	}
	given := map[string]string{}
	for _, match := range parameter.FindAllStringSubmatch(challenge, -1) {
		given[match[1]] = match[2]
	}
	realm, err := checkURL(given["realm"], "https")
	if err != nil {
		return "", err
	}
	values := realm.Query()
	for _, name := range []string{"service", "scope"} {
		if given[name] != "" {
			values.Set(name, given[name])
		}
	}
	realm.RawQuery = values.Encode()
	ask := request{url: realm, what: fmt.Sprintf("a token for %s", q.url.Host), limit: maxDocument}
	if login, found := f.Credentials[q.url.Host]; found {
		ask.authorization = login.basic()
	}
	data, err := f.get(ctx, ask)
	if err != nil {
		return "", err
	}
	var answer struct {
		Token       string `json:"token"`
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(data, &answer); err != nil || answer.Token+answer.AccessToken == "" {
		return "", diag.On(realm.Host, "gives no token for %s", q.url.Host).WithCode(diag.Remote).WithCause(err)
	}
	if answer.Token == "" {
		return answer.AccessToken, nil
	}
	return answer.Token, nil
}
