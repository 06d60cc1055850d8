package chartfetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/charttest"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

var (
	old    = charttest.Chart{Name: "web", Version: "1.0.0", Archive: charttest.Small("web", "1.0.0")}
	newer  = charttest.Chart{Name: "web", Version: "1.2.0", Archive: charttest.Small("web", "1.2.0")}
	built  = charttest.Chart{Name: "web", Version: "1.2.0+build.1", Archive: charttest.Small("web", "1.2.0+build.1")}
	rc     = charttest.Chart{Name: "web", Version: "2.0.0-rc.1", Archive: charttest.Small("web", "2.0.0-rc.1")}
	charts = []charttest.Chart{old, newer, built, rc}
)

// serve starts a server, and a fetcher that waits without time.
func serve(t *testing.T, s *charttest.Server) (*Fetcher, *httptest.Server, *[]time.Duration) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	waits := &[]time.Duration{}
	return &Fetcher{
		Transport: server.Client().Transport,
		Sleep: func(ctx context.Context, d time.Duration) error {
			*waits = append(*waits, d)
			return ctx.Err()
		},
		WithTimeout: func(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
			return context.WithCancel(ctx)
		},
	}, server, waits
}

// reference names web on a server, as an HTTP repository or a registry.
func reference(server *httptest.Server, oci bool, version string) chartlock.Reference {
	r := chartlock.Reference{Repository: server.URL + "/charts", Name: "web", Version: version}
	if oci {
		r.Repository = strings.Replace(r.Repository, "http://", "oci://", 1)
	}
	return r
}

func TestResolveAndGet(t *testing.T) {
	for _, tt := range []struct {
		wanted string
		want   charttest.Chart
	}{
		{"1.0.0", old}, {"1.2.0", newer}, {"1.2.0+build.1", built}, {"2.0.0-rc.1", rc}, {"1.0.x", old}, {">=1.0.0 <1.1.0", old}, {">=2.0.0-0", rc},
	} {
		for _, oci := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.wanted, " ", oci), func(t *testing.T) {
				f, server, _ := serve(t, &charttest.Server{Charts: charts, PageSize: 2})
				e, data, err := f.Resolve(t.Context(), reference(server, oci, tt.wanted))
				if err != nil {
					t.Fatal(err)
				}
				if e.Resolved != tt.want.Version || e.Digest != charttest.Digest(tt.want.Archive) || e.Digest != charttest.Digest(data) {
					t.Errorf("%+v", e)
				}
				if oci && e.Manifest != "sha256:"+charttest.Digest(charttest.Manifest(tt.want.Archive)) {
					t.Errorf("manifest %s", e.Manifest)
				}
				again, err := f.Get(t.Context(), e)
				if err != nil || charttest.Digest(again) != e.Digest {
					t.Error(err)
				}
			})
		}
	}
}

// TestManifest gets a file by its URL.
func TestManifest(t *testing.T) {
	f, server, _ := serve(t, &charttest.Server{Files: map[string][]byte{"a.yaml": []byte("a: b\n")}})
	r := chartlock.Reference{URL: server.URL + "/files/a.yaml"}
	e, data, err := f.Resolve(t.Context(), r)
	if err != nil || string(data) != "a: b\n" || e.Digest != charttest.Digest(data) {
		t.Fatalf("%+v %s %v", e, data, err)
	}
	if _, err := f.Get(t.Context(), e); err != nil {
		t.Error(err)
	}
	r.SHA256 = strings.Repeat("0", 64)
	if _, _, err := f.Resolve(t.Context(), r); err == nil || !strings.Contains(err.Error(), "where the addon is declared") {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name, repository, chart, version string
		want                             string
	}{
		{"unknown chart", "http:", "wep", "1.0.0", `the repository has no chart wep`},
		{"unknown chart, suggestion", "http:", "wep", "1.0.0", `did you mean "web"?`},
		{"unknown chart in a registry", "oci:", "wep", "1.0.0", "answers 404 (Not Found) to /v2/charts/wep/manifests/1.0.0"},
		{"unknown version", "http:", "web", "9.9.9", "there is no such version\n  the newest is 1.2.0"},
		{"unknown version in a registry", "oci:", "web", "9.9.x", "there is no such version\n  the newest is 1.2.0"},
		{"no repository", "http:/nothing", "web", "1.0.0", "answers 404 (Not Found) to /charts/nothing/index.yaml"},
		{"a page", "http:/web-1.0.0.tgz?", "web", "1.0.0", "404"},
		{"without TLS", "http://charts.example.com", "web", "1.0.0", "what runs in a cluster is fetched by https only"},
		{"another scheme", "ftp://charts.example.com", "web", "1.0.0", "what runs in a cluster is fetched by https only"},
		{"a file", "file:///etc", "web", "1.0.0", "not a URL with a host"},
		{"a password", "https://user:canary@charts.example.com", "web", "1.0.0", "a URL with a password in it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, server, _ := serve(t, &charttest.Server{Charts: charts})
			repository := tt.repository
			if scheme, rest, _ := strings.Cut(repository, ":"); !strings.HasPrefix(rest, "//") {
				repository = scheme + strings.TrimPrefix(server.URL, "http") + "/charts" + rest
			}
			_, _, err := f.Resolve(t.Context(), chartlock.Reference{Repository: repository, Name: tt.chart, Version: tt.version})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Error("the password is in the error")
			}
		})
	}
}

func TestCredentials(t *testing.T) {
	const password = "password-canary"
	for _, oci := range []bool{false, true} {
		for _, tt := range []struct {
			name, password, want string
		}{
			{"right", password, ""},
			{"wrong", "wrong-canary", "are not right"},
			{"none", "", "need credentials for"},
		} {
			t.Run(fmt.Sprint(tt.name, " ", oci), func(t *testing.T) {
				s := &charttest.Server{Charts: charts, User: "user", Password: password}
				f, server, _ := serve(t, s)
				host := strings.TrimPrefix(server.URL, "http://")
				if tt.password != "" {
					f.Credentials = Credentials{host: {"user", secret.New(tt.password)}}
				}
				e, _, err := f.Resolve(t.Context(), reference(server, oci, "1.0.0"))
				if tt.want == "" {
					if err != nil {
						t.Fatal(err)
					}
					if _, err := f.Get(t.Context(), e); err != nil {
						t.Error(err)
					}
					if got := count(s.Requests, "/token"); oci && got != 1 {
						t.Errorf("%d tokens asked for: %v", got, s.Requests)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "canary") {
					t.Errorf("%v, want %s", err, tt.want)
				}
			})
		}
	}
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// TestRedirect: archives may be elsewhere; credentials do not go there.
func TestRedirect(t *testing.T) {
	var seen []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		_, _ = w.Write(old.Archive)
	}))
	defer elsewhere.Close()
	target := strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)
	for _, oci := range []bool{false, true} {
		s := &charttest.Server{Charts: charts, User: "user", Password: "canary"}
		s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, ".tgz") && !strings.Contains(r.URL.Path, "/blobs/") {
				return false
			}
			http.Redirect(w, r, target+"/storage", http.StatusTemporaryRedirect)
			return true
		}
		f, server, _ := serve(t, s)
		f.Credentials = Credentials{strings.TrimPrefix(server.URL, "http://"): {"user", secret.New("canary")}}
		if _, _, err := f.Resolve(t.Context(), reference(server, oci, "1.0.0")); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(seen, []string{"", ""}) {
		t.Errorf("authorization elsewhere: %q", seen)
	}
}

func TestRedirectRefused(t *testing.T) {
	for _, tt := range []struct{ target, want string }{
		{"http://charts.example.com/", "it redirects to charts.example.com without TLS"},
		{"/charts/index.yaml", "it redirects again and again"},
	} {
		s := &charttest.Server{Fault: func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, tt.target, http.StatusFound)
			return true
		}}
		f, server, waits := serve(t, s)
		_, _, err := f.Resolve(t.Context(), reference(server, false, "1.0.0"))
		if err == nil || !strings.Contains(err.Error(), tt.want) || len(*waits) != 0 {
			t.Errorf("%v after %v, want %s", err, *waits, tt.want)
		}
	}
}

// TestFaults: what may pass is tried again, what lies is not believed.
func TestFaults(t *testing.T) {
	archive := func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, ".tgz") || strings.Contains(r.URL.Path, "/blobs/")
	}
	type fault func(http.ResponseWriter, *http.Request)
	times := func(n int) func(fault) func() func(http.ResponseWriter, *http.Request) bool {
		return func(f fault) func() func(http.ResponseWriter, *http.Request) bool {
			return func() func(http.ResponseWriter, *http.Request) bool {
				left := n
				return func(w http.ResponseWriter, r *http.Request) bool {
					if left == 0 || !archive(r) {
						return false
					}
					left--
					f(w, r)
					return true
				}
			}
		}
	}
	once, always := times(1), times(attempts)
	short := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write([]byte("half"))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	answer := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(code)
		}
	}
	second := time.Second
	for _, tt := range []struct {
		name  string
		fault func() func(http.ResponseWriter, *http.Request) bool
		want  string // of the error; empty: it works in the end
		waits []time.Duration
	}{
		{"broken off once", once(short), "", []time.Duration{second}},
		{"broken off always", always(short), "broke off after 4 bytes", []time.Duration{second, 2 * second, 4 * second}},
		{"too many requests", once(answer(429)), "", []time.Duration{7 * second}},
		{"unavailable", always(answer(503)), "answers 503 (Service Unavailable)", []time.Duration{7 * second, 7 * second, 7 * second}},
		{"gone", always(answer(410)), "answers 410 (Gone)", nil},
		{"something else", always(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("else")) }), "", nil},
		{"endless", always(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(int64(maxArtifact)+1))
		}), "gives more than 32 MiB", nil},
	} {
		for _, oci := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, " ", oci), func(t *testing.T) {
				f, server, waits := serve(t, &charttest.Server{Charts: charts, Fault: tt.fault()})
				_, _, err := f.Resolve(t.Context(), reference(server, oci, "1.0.0"))
				want := tt.want
				if tt.name == "something else" {
					want = "the archive has the digest"
					if oci {
						want = "the registry gives sha256:"
					}
				}
				if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
				if !slices.Equal(*waits, tt.waits) {
					t.Errorf("waits %v, want %v", *waits, tt.waits)
				}
			})
		}
	}
}

// TestTimeout: a server that never answers.
func TestTimeout(t *testing.T) {
	arrived := make(chan context.CancelFunc, attempts)
	s := &charttest.Server{Fault: func(_ http.ResponseWriter, r *http.Request) bool {
		(<-arrived)() // the time of the attempt is over
		<-r.Context().Done()
		return true
	}}
	f, server, waits := serve(t, s)
	f.WithTimeout = func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
		if d != patience {
			t.Errorf("limit %v", d)
		}
		limited, cancel := context.WithCancelCause(ctx)
		arrived <- func() { cancel(context.DeadlineExceeded) }
		return limited, func() { cancel(nil) }
	}
	_, _, err := f.Resolve(t.Context(), reference(server, false, "1.0.0"))
	if err == nil || !strings.Contains(err.Error(), "cannot be fetched from") || len(*waits) != attempts-1 {
		t.Errorf("%v after %v", err, *waits)
	}
}

// TestInterrupted: who gives up is not asked to wait.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &charttest.Server{Fault: func(w http.ResponseWriter, _ *http.Request) bool {
		cancel()
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}}
	f, server, waits := serve(t, s)
	if _, _, err := f.Resolve(ctx, reference(server, false, "1.0.0")); err == nil || len(*waits) != 0 {
		t.Errorf("%v after %v", err, *waits)
	}
}

// TestLiars: digests that do not fit.
func TestLiars(t *testing.T) {
	f, server, _ := serve(t, &charttest.Server{Charts: charts, IndexDigest: strings.Repeat("0", 64)})
	if _, _, err := f.Resolve(t.Context(), reference(server, false, "1.0.0")); err == nil || !strings.Contains(err.Error(), "in the index of its repository") {
		t.Error(err)
	}
	for _, oci := range []bool{false, true} {
		s := &charttest.Server{Charts: []charttest.Chart{old}}
		f, server, _ := serve(t, s)
		e, _, err := f.Resolve(t.Context(), reference(server, oci, "1.0.0"))
		if err != nil {
			t.Fatal(err)
		}
		f.indexes = nil
		s.Charts = []charttest.Chart{{Name: "web", Version: "1.0.0", Archive: newer.Archive}} // published again, with another content
		_, err = f.Get(t.Context(), e)
		if err == nil {
			t.Error("another content is taken")
		}
		if !oci && !strings.Contains(err.Error(), "is not what charts/charts.lock pins") {
			t.Error(err)
		}
	}
}

func TestProgress(t *testing.T) {
	f, server, _ := serve(t, &charttest.Server{Charts: charts})
	var last int64
	f.Progress = func(what string, done, total int64) {
		if what == "web 1.0.0" {
			last = done
			if total != int64(len(old.Archive)) {
				t.Errorf("total %d", total)
			}
		}
	}
	if _, _, err := f.Resolve(t.Context(), reference(server, false, "1.0.0")); err != nil || last != int64(len(old.Archive)) {
		t.Errorf("%d of %d, %v", last, len(old.Archive), err)
	}
}

// TestNoConnection: nothing listens.
func TestNoConnection(t *testing.T) {
	f, server, waits := serve(t, &charttest.Server{})
	f.Transport = roundTripper(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })
	_, _, err := f.Resolve(t.Context(), reference(server, true, "1.0.0"))
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "HTTPS_PROXY") || len(*waits) != 3 {
		t.Errorf("%v after %v", err, *waits)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
