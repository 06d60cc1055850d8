package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

// received is a request that a receiver got.
type received struct {
	path   string
	header http.Header
	body   string
}

// receiver is a web server that is told of runs.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []received
}

// newReceiver answers the n-th request with answer(n), from 1 on; nil: it takes all. A
// receiver has a certificate that nobody knows but who takes [receiver.transport].
func newReceiver(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	t.Helper()
	rec := &receiver{}
	rec.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		rec.mu.Lock()
		rec.got = append(rec.got, received{r.URL.EscapedPath(), r.Header, string(body)})
		n := len(rec.got)
		rec.mu.Unlock()
		if answer != nil {
			answer(n, w, r)
		}
	}))
	rec.Config.ErrorLog = log.New(io.Discard, "", 0)
	rec.StartTLS()
	t.Cleanup(rec.Close)
	return rec
}

// all are the requests so far.
func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// transport trusts the receiver.
func (r *receiver) transport() http.RoundTripper {
	pool := x509.NewCertPool()
	pool.AddCert(r.Certificate())
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
}

const (
	canaryPath = "/services/canary-path-71c2"
	canaryKey  = "canary-key-93ab"
	canaryHub  = "canary-token-55de"
)

// options tell a webhook at the receiver, with a path and a key that are secret.
func (r *receiver) options() Options {
	return Options{
		Targets: schemas.RunNotifications{Webhooks: []schemas.WebhookTarget{{Name: "ops", URL: r.URL + canaryPath, Key: canaryKey}}},
		HTTP:    r.transport(), Agent: "talosgen/test", Commit: strings.Repeat("c", 40), Within: 20 * time.Second,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// withStatus tells the status of a commit too, or alone.
func (o Options) withStatus(forge, api, repository string) Options {
	o.Targets = schemas.RunNotifications{CommitStatus: &schemas.StatusTarget{Forge: forge, Repository: repository}}
	o.Forge = Forge{API: api, Token: secret.New(canaryHub)}
	return o
}

// run tells a run from its begin to its end.
func run(t *testing.T, o Options) []error {
	t.Helper()
	notifier := New(o)
	notifier.Begin(t.Context(), begun())
	notifier.begun.Wait() // a begin that takes longer is another test
	return notifier.End(t.Context(), finished())
}

// finished is a run that is done.
func finished() Run {
	r := begun()
	r.Outcome, r.Changes, r.Plan = "done", 2, "0123456789abcdef"
	return r.End(0, r.Begun.Add(time.Minute))
}
