package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

// A webhook gets two documents of a run, each with a signature of its own.
func TestWebhook(t *testing.T) {
	rec := newReceiver(t, nil)
	if problems := run(t, rec.options()); problems != nil {
		t.Fatal(problems)
	}
	const head = `{"apiVersion":"talosgen.dev/v1alpha1","kind":"Run","environment":"prod","cluster":"acme-prod","command":"apply","run":"6a1-0b","owner":"ann@desk","begun":"2026-11-26T08:00:00Z",`
	commit := strings.Repeat("c", 40)
	want := []received{
		{body: head + `"commit":"` + commit + `","state":"pending","outcome":"running","changes":0,"link":"https://ci.example.com/7","text":"apply prod: running, by ann@desk"}`,
			header: http.Header{"X-Talosgen-Delivery": {"6a1-0b-pending"}}},
		{body: head + `"ended":"2026-11-26T08:01:00Z","commit":"` + commit + `","plan":"0123456789abcdef","state":"success","outcome":"done","exitCode":0,"changes":2,"link":"https://ci.example.com/7","text":"apply prod: done, 2 changes, by ann@desk"}`,
			header: http.Header{"X-Talosgen-Delivery": {"6a1-0b-success"}}},
	}
	got := rec.all()
	if len(got) != len(want) {
		t.Fatalf("%d requests, not %d", len(got), len(want))
	}
	for i, g := range got {
		if g.body != want[i].body {
			t.Errorf("document %d is\n%s\nwant\n%s", i, g.body, want[i].body)
		}
		mac := hmac.New(sha256.New, []byte(canaryKey))
		mac.Write([]byte(g.body))
		for name, value := range map[string]string{
			SignatureHeader: "sha256=" + hex.EncodeToString(mac.Sum(nil)), "Content-Type": "application/json", "User-Agent": "talosgen/test",
			"X-Talosgen-Event": "run", "X-Talosgen-Delivery": want[i].header.Get("X-Talosgen-Delivery"), "Authorization": "",
		} {
			if g.header.Get(name) != value {
				t.Errorf("document %d: %s is %q, want %q", i, name, g.header.Get(name), value)
			}
		}
		if g.path != canaryPath {
			t.Errorf("document %d went to %s", i, g.path)
		}
	}
}

// Without a key there is no signature.
func TestUnsigned(t *testing.T) {
	rec := newReceiver(t, nil)
	o := rec.options()
	o.Targets.Webhooks[0].Key = ""
	if problems := run(t, o); problems != nil {
		t.Fatal(problems)
	}
	if got := rec.all()[1].header[SignatureHeader]; got != nil {
		t.Errorf("the signature is %v", got)
	}
}

// TestCommitStatus: each forge is told in its words, at its place.
func TestCommitStatus(t *testing.T) {
	commit := strings.Repeat("c", 40)
	for _, c := range []struct {
		forge, base, repository string
		path, header, token     string
		pending, success        string
	}{
		{
			schemas.GitHub, "/api/v3/", "acme/clusters", "/api/v3/repos/acme/clusters/statuses/" + commit, "Authorization", "Bearer " + canaryHub,
			`{"state":"pending","context":"talosgen/apply/prod","description":"apply prod: running, by ann@desk","target_url":"https://ci.example.com/7"}`,
			`{"state":"success","context":"talosgen/apply/prod","description":"apply prod: done, 2 changes, by ann@desk","target_url":"https://ci.example.com/7"}`,
		},
		{
			schemas.GitLab, "/api/v4", "acme/infra/clusters", "/api/v4/projects/acme%2Finfra%2Fclusters/statuses/" + commit, "Private-Token", canaryHub,
			`{"state":"running","name":"talosgen/apply/prod","description":"apply prod: running, by ann@desk","target_url":"https://ci.example.com/7"}`,
			`{"state":"success","name":"talosgen/apply/prod","description":"apply prod: done, 2 changes, by ann@desk","target_url":"https://ci.example.com/7"}`,
		},
	} {
		rec := newReceiver(t, nil)
		if problems := run(t, rec.options().withStatus(c.forge, rec.URL+c.base, c.repository)); problems != nil {
			t.Fatal(c.forge, problems)
		}
		got := rec.all()
		if len(got) != 2 || got[0].body != c.pending || got[1].body != c.success {
			t.Fatalf("%s: got %+v", c.forge, got)
		}
		for _, g := range got {
			if g.path != c.path || g.header.Get(c.header) != c.token || g.header.Get(SignatureHeader) != "" {
				t.Errorf("%s: %s with %v", c.forge, g.path, g.header)
			}
		}
	}
}

// GitLab refuses to begin what a killed run has begun: that is no problem, and the end
// counts.
func TestStatusStandsAlready(t *testing.T) {
	rec := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"message":"Cannot transition status via :run from :running (Reason(s): Status cannot transition via \"run\")"}`))
		}
	})
	o := rec.options().withStatus(schemas.GitLab, rec.URL, "acme/clusters")
	if err := New(o).send(t.Context(), New(o).targets[0], begun()); err != nil {
		t.Error(err)
	}
	if problems := run(t, o); problems != nil || len(rec.all()) != 3 {
		t.Errorf("%v after %d requests", problems, len(rec.all()))
	}
}

// TestStatusNotLetIn: what the token of a forge lacks.
func TestStatusNotLetIn(t *testing.T) {
	for forge, want := range map[string]string{
		schemas.GitHub: " answers 403 Forbidden: the token needs the permission statuses: write",
		schemas.GitLab: " answers 403 Forbidden: the token needs the scope api, and the role Developer",
	} {
		rec := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
		problems := run(t, rec.options().withStatus(forge, rec.URL, "acme/clusters"))
		if len(problems) != 1 || !strings.HasSuffix(problems[0].Error(), want) || len(rec.all()) != 2 {
			t.Errorf("%s: %v after %d requests", forge, problems, len(rec.all()))
		}
	}
}

// TestFaults: what a receiver does, how often it is asked in the end, and what is said of
// it: its host, and nothing else of its URL.
func TestFaults(t *testing.T) {
	elsewhere := newReceiver(t, nil)
	status := func(code int) func(int, http.ResponseWriter, *http.Request) {
		return func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for _, c := range []struct {
		what   string
		answer func(n int, w http.ResponseWriter, r *http.Request)
		asked  int // at the end
		want   string
	}{
		{"an error of the server", status(500), 3, "answers 500 Internal Server Error"},
		{"too many requests", status(429), 3, "answers 429 Too Many Requests"},
		{"better the third time", func(n int, w http.ResponseWriter, _ *http.Request) {
			if n < 3 {
				w.WriteHeader(503)
			}
		}, 3, ""},
		{"gone", status(404), 1, "answers 404 Not Found"},
		{"not let in", status(401), 1, "answers 401 Unauthorized"},
		{"a code that has no name", status(499), 1, "answers 499 "},
		{"a redirect", func(_ int, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/canary-elsewhere", http.StatusTemporaryRedirect)
		}, 1, "answers 307: redirects are not followed, give the last URL"},
		{"a connection that is cut", func(_ int, w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, 3, "cuts the connection"},
		{"a huge answer", func(_ int, w http.ResponseWriter, _ *http.Request) {
			for range 64 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, 1, ""},
		{"a huge refusal", func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			for range 64 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, 1, "answers 400 Bad Request"},
	} {
		rec := newReceiver(t, c.answer)
		problems := New(rec.options()).End(t.Context(), finished())
		checkProblem(t, c.what, problems, rec, c.want)
		if n := len(rec.all()); n != c.asked {
			t.Errorf("%s: it was asked %d times, not %d", c.what, n, c.asked)
		}
	}
	if n := len(elsewhere.all()); n != 0 {
		t.Errorf("the host of a redirect got %d requests", n)
	}
}

// checkProblem wants one problem, or none, that names a host alone.
func checkProblem(t *testing.T, what string, problems []error, rec *receiver, want string) {
	t.Helper()
	if want == "" {
		if problems != nil {
			t.Errorf("%s: %v", what, problems)
		}
		return
	}
	host := strings.TrimPrefix(rec.URL, "https://")
	if want = "webhook ops (" + host + ") " + want; len(problems) != 1 || problems[0].Error() != want {
		t.Errorf("%s: got %v, want %s", what, problems, want)
	}
}

// TestUnreachable: nobody is there, or somebody else.
func TestUnreachable(t *testing.T) {
	trusted := newReceiver(t, nil)
	other := trusted.options()
	other.HTTP = http.DefaultTransport // which does not know its certificate
	checkProblem(t, "a wrong certificate", New(other).End(t.Context(), finished()), trusted, "shows a certificate that is not trusted")
	if n := len(trusted.all()); n != 0 {
		t.Errorf("whoever shows a wrong certificate got %d requests", n)
	}

	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	o := trusted.options()
	o.Targets.Webhooks[0].URL = strings.Replace(plain.URL, "http://", "https://", 1) + canaryPath
	problems := New(o).End(t.Context(), finished())
	if len(problems) != 1 || !strings.HasSuffix(problems[0].Error(), " does not speak TLS") {
		t.Errorf("without TLS: %v", problems)
	}

	gone := newReceiver(t, nil)
	o = gone.options()
	gone.Close()
	checkProblem(t, "nobody there", New(o).End(t.Context(), finished()), gone, "refuses connections")

	o.Targets.Webhooks[0].URL = "https://no-such-host.invalid" + canaryPath
	problems = New(o).End(t.Context(), finished())
	if len(problems) != 1 || strings.Contains(problems[0].Error(), "canary") || !strings.HasPrefix(problems[0].Error(), "webhook ops (no-such-host.invalid) ") {
		t.Errorf("a name of nobody: %v", problems)
	}
}

// TestHang: a receiver that never answers holds neither the begin of a run, nor its end
// beyond the bound; another one is told all the same.
func TestHang(t *testing.T) {
	let := make(chan struct{})
	hung := newReceiver(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
		select {
		case <-let:
		case <-r.Context().Done():
		}
	})
	defer close(let)
	o := hung.options()
	o.Within = time.Second
	notifier := New(o)
	from := time.Now()
	notifier.Begin(t.Context(), begun())
	if took := time.Since(from); took > o.Within {
		t.Errorf("the begin took %s", took)
	}
	problems := notifier.End(t.Context(), finished())
	if took := time.Since(from); took > 20*o.Within { // a busy machine is slow too
		t.Errorf("the end took %s", took)
	}
	checkProblem(t, "one that hangs", problems, hung, "does not answer in time")
}

// TestOrder: what was told at the begin does not arrive after the end.
func TestOrder(t *testing.T) {
	arrived, let := make(chan struct{}), make(chan struct{})
	rec := newReceiver(t, func(n int, _ http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			close(arrived)
			<-let
		}
	})
	notifier := New(rec.options())
	notifier.Begin(t.Context(), begun())
	<-arrived
	go close(let)
	if problems := notifier.End(t.Context(), finished()); problems != nil {
		t.Fatal(problems)
	}
	got := rec.all()
	if len(got) != 2 || !strings.Contains(got[0].body, `"pending"`) || !strings.Contains(got[1].body, `"success"`) {
		t.Errorf("got %+v", got)
	}
}

// TestInterrupted: a run that was interrupted is told all the same.
func TestInterrupted(t *testing.T) {
	rec := newReceiver(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	notifier := New(rec.options())
	notifier.Begin(ctx, begun())
	if problems := notifier.End(ctx, begun().End(130, begun().Begun)); problems != nil {
		t.Fatal(problems)
	}
	if got := rec.all(); len(got) != 2 || !strings.Contains(got[1].body, `"outcome":"interrupted"`) {
		t.Errorf("got %+v", got)
	}
}

// TestNobody: who cannot be told, and why; and who is not told, and is no problem.
func TestNobody(t *testing.T) {
	rec := newReceiver(t, nil)
	for _, c := range []struct {
		what   string
		change func(o *Options)
		want   string
	}{
		{"no token", func(o *Options) { o.Forge.Token = secret.String{} }, "commit status: GITHUB_TOKEN is not set"},
		{"no repository", func(o *Options) { o.Targets.CommitStatus.Repository = "" }, "commit status: notifications.commitStatus.repository names none, and no pipeline does"},
		{"a repository that is a path", func(o *Options) { o.Targets.CommitStatus.Repository = "a/b/../../c" }, `commit status: "a/b/../../c" is no repository there`},
		{"an API in the clear", func(o *Options) { o.Forge.API = "http://git.example.com/api" }, "commit status: its URL does not begin with https://"},
		{"an API with a password", func(o *Options) { o.Forge.API = "https://a:b@git.example.com" }, "commit status: its URL does not begin with https://"},
		{"no commit", func(o *Options) { o.Commit = "" }, ""},
		{"a simulation, and a forge elsewhere", func(o *Options) { o.OnlyHere, o.Forge.API = true, "https://git.example.com" }, ""},
		{"a simulation, and everybody's forge", func(o *Options) { o.OnlyHere, o.Forge.API = true, "" }, ""},
		{"a simulation, and a webhook elsewhere", func(o *Options) {
			o.OnlyHere = true
			o.Targets = schemas.RunNotifications{Webhooks: []schemas.WebhookTarget{{Name: "ops", URL: "https://hooks.example.com" + canaryPath}}}
		}, ""},
		{"a webhook in the clear", func(o *Options) {
			o.Targets = schemas.RunNotifications{Webhooks: []schemas.WebhookTarget{{Name: "ops", URL: "http://hooks.example.com" + canaryPath}}}
		}, "webhook ops: its URL does not begin with https://"},
	} {
		o := rec.options().withStatus(schemas.GitHub, rec.URL, "acme/clusters")
		c.change(&o)
		got := ""
		for _, err := range run(t, o) {
			got += err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	if n := len(rec.all()); n != 0 {
		t.Errorf("somebody was told %d times", n)
	}
}

// TestProxy: the proxy of the environment is used, and sees the host alone.
func TestProxy(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.RequestURI)
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(proxy.Close)
	rec := newReceiver(t, nil)
	o := rec.options()
	o.Targets.Webhooks[0].URL = "https://hooks.example.com" + canaryPath
	transport, _ := rec.transport().(*http.Transport)
	transport.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }
	o.HTTP = transport
	problems := New(o).End(t.Context(), finished())
	if len(problems) != 1 || problems[0].Error() != "webhook ops (hooks.example.com) cannot be reached" {
		t.Errorf("got %v", problems)
	}
	for _, a := range asked {
		if a != "CONNECT hooks.example.com:443" {
			t.Errorf("the proxy was asked %s", a)
		}
	}
	if len(asked) != tries {
		t.Errorf("the proxy was asked %d times", len(asked))
	}
}
