package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

// SignatureHeader has the signature of a document: the name that GitHub gives to its own,
// so that what checks one checks the other.
const SignatureHeader = "X-Hub-Signature-256"

// target is somebody who is told.
type target struct {
	name string
	url  *url.URL // its host alone is ever shown
	// The body that a run is told with, and its headers, into which it may write.
	message func(r Run, header http.Header) any
	// The key that bodies are signed with; zero: they are not.
	key secret.String
	// What a token needs to be let in; empty: it takes none.
	permission string
	// Whether an answer that refuses a message says that there was nothing to tell.
	needless func(status int, body []byte) bool
}

// String names a target and its host, and nothing else of its URL.
func (t *target) String() string { return t.name + " (" + t.url.Host + ")" }

// request makes a request of a run.
func (t *target) request(ctx context.Context, agent string, r Run) (*http.Request, error) {
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {agent}}
	body, err := json.Marshal(t.message(r, header))
	if err != nil {
		return nil, err
	}
	if !t.key.IsZero() {
		header.Set(SignatureHeader, Signature(t.key, body))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = header
	return request, nil
}

// Signature is that of a body, as its header has it.
func Signature(key secret.String, body []byte) string {
	h := hmac.New(sha256.New, []byte(key.Reveal()))
	h.Write(body)
	return "sha256=" + hex.EncodeToString(h.Sum(nil))
}

// webhook tells a URL.
func webhook(w schemas.WebhookTarget) (*target, error) {
	name := "webhook " + w.Name
	u, err := reachable(name, w.URL)
	return &target{name: name, url: u, key: secret.New(w.Key), message: func(r Run, header http.Header) any {
		header.Set("X-Talosgen-Event", "run")
		// One that is repeated has the same.
		header.Set("X-Talosgen-Delivery", r.Run+"-"+string(r.State))
		return r
	}}, err
}

// reachable is the URL of a target. It is not shown.
func reachable(name, text string) (*url.URL, error) {
	if !schemas.IsWebhook(text) {
		return nil, fmt.Errorf("%s: its URL does not begin with https://", name)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: its URL cannot be read", name)
	}
	return u, nil
}
