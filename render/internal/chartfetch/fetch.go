// Package chartfetch gets charts and manifests from elsewhere: HTTP repositories
// of charts, registries for images, URLs. It is the only package of render that
// opens connections, and only commands that were asked to call it: a render
// never does. Transport, credentials and clock are passed in.
package chartfetch

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// Limits of what is fetched, in bytes.
const (
	maxIndex    = 64 << 20 // the largest index in wide use has 25 MB
	maxArtifact = 32 << 20
	maxDocument = 4 << 20 // manifests and tags of registries, tokens
)

// Fetcher gets charts and manifests.
type Fetcher struct {
	// Transport opens connections; proxies and authorities are its business.
	Transport http.RoundTripper
	// Credentials are those for hosts; may be nil.
	Credentials Credentials
	// Sleep waits between attempts.
	Sleep func(context.Context, time.Duration) error
	// WithTimeout limits an attempt, as [context.WithTimeout] does.
	WithTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	// Progress is told how much of something is there; total is -1 if nobody
	// knows. It may be nil.
	Progress func(what string, done, total int64)

	tokens  map[string]string // for registries, by their URL and scope
	indexes map[string]*index // of HTTP repositories, by URL
}

// Credentials are user names and passwords by host, with the port if it is not
// the usual one.
type Credentials map[string]Login

// Login is a user name with a password or token.
type Login struct {
	User     string
	Password secret.String
}

// Resolve finds what a reference stands for now, and gets it.
func (f *Fetcher) Resolve(ctx context.Context, r chartlock.Reference) (chartlock.Entry, []byte, error) {
	var e chartlock.Entry
	var data []byte
	var err error
	switch {
	case r.URL != "":
		e = chartlock.Entry{Reference: r}
		data, err = f.manifest(ctx, r)
	case r.OCI():
		e, data, err = f.resolveOCI(ctx, r)
	default:
		e, data, err = f.resolveHTTP(ctx, r)
	}
	if err != nil {
		return e, nil, err
	}
	e.Digest = chartlock.Digest(data)
	if r.SHA256 != "" && r.SHA256 != e.Digest {
		return e, nil, diag.On(r.String(), "has the digest %s, and %s where the addon is declared", e.Digest, r.SHA256).
			WithHint("if its source has changed it, find out why, before you run it").WithCode(diag.Remote)
	}
	return e, data, nil
}

// Get gets what a lock pins. Anything else than that is an error.
func (f *Fetcher) Get(ctx context.Context, e chartlock.Entry) ([]byte, error) {
	var data []byte
	var err error
	switch {
	case e.URL != "":
		data, err = f.manifest(ctx, e.Reference)
	case e.OCI():
		data, err = f.getOCI(ctx, e)
	default:
		data, err = f.getHTTP(ctx, e)
	}
	if err != nil {
		return nil, err
	}
	if got := chartlock.Digest(data); got != e.Digest {
		return nil, diag.On(e.Reference.String(), "is not what %s pins: its digest is %s, not %s", chartlock.File, got, e.Digest).
			WithHint("its source gives something else now than when it was locked: find out why, before you run it.\n`talosgen charts lock` accepts what is there now").WithCode(diag.Remote)
	}
	return data, nil
}

func (f *Fetcher) manifest(ctx context.Context, r chartlock.Reference) ([]byte, error) {
	at, err := checkURL(r.URL, "https")
	if err != nil {
		return nil, err
	}
	return f.get(ctx, request{url: at, what: r.String(), limit: maxArtifact})
}

// checkURL parses a URL and makes sure that nobody on the way can change what
// comes from it, and that it holds no password.
func checkURL(text, scheme string) (*url.URL, error) {
	at, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, diag.On("", "%q is no URL", text).WithCause(err)
	case at.Host == "" || at.Opaque != "":
		return nil, diag.On(text, "not a URL with a host").WithHint("such as %s://example.com/charts", scheme)
	case at.User != nil:
		return nil, diag.On(at.Redacted(), "a URL with a password in it").WithHint("keep it in a file of credentials: see `talosgen charts vendor --help`")
	case at.Scheme != "https" && at.Scheme != scheme && !(at.Scheme == "http" && loopback(at.Hostname())):
		return nil, diag.On(text, "what runs in a cluster is fetched by %s only", scheme)
	}
	return at, nil
}

// loopback tells whether a host is this machine: then nobody is on the way.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// choose picks the newest version that fits what was asked for: the same text,
// or a range. Versions that are none are not for ranges.
func choose(wanted string, versions []string) (string, bool) {
	for _, v := range versions {
		if v == wanted {
			return v, true
		}
	}
	constraint, err := semver.NewConstraint(wanted)
	if err != nil {
		return "", false
	}
	var best *semver.Version
	for _, text := range versions {
		v, err := semver.NewVersion(text)
		if err == nil && constraint.Check(v) && (best == nil || v.GreaterThan(best)) {
			best = v
		}
	}
	if best == nil {
		return "", false
	}
	return best.Original(), true
}

// noVersion says that a chart has no version that fits.
func noVersion(r chartlock.Reference, versions []string) *diag.Problem {
	p := diag.On(r.String(), "there is no such version").WithCode(diag.Remote)
	if newest, found := choose("*", versions); found {
		return p.WithHint("the newest is %s", newest)
	}
	return p
}

// noChart says that a repository does not have a chart.
func noChart(r chartlock.Reference, names []string) *diag.Problem {
	hint := diag.Suggest(r.Name, names)
	return diag.On(r.Repository, "the repository has no chart %s", r.Name).WithHint("%s", hint).WithCode(diag.Remote)
}

func describe(r chartlock.Reference, version string) string {
	return fmt.Sprintf("%s %s", r.Name, version)
}

// join appends elements to the path of a URL.
func join(base *url.URL, elements ...string) *url.URL {
	at := *base
	at.Path = strings.TrimSuffix(at.Path, "/") + "/" + strings.Join(elements, "/")
	at.RawPath = ""
	return &at
}
