package kubeenv

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// Content types of what is sent to the API server.
const (
	JSON       = "application/json"             // a new object
	MergePatch = "application/merge-patch+json" // a map that is merged
	JSONPatch  = "application/json-patch+json"  // a list of operations
	applyPatch = "application/apply-patch+yaml" // an object to apply
)

// manager is who owns the fields that [Cluster.Patch] sets.
const manager = "kubeenv"

// client talks to the API server.
type client struct {
	url  string
	http *http.Client
}

func newClient(url string, connection *tls.Config) client {
	return client{url: url, http: &http.Client{
		Timeout:   time.Minute,
		Transport: &http.Transport{TLSClientConfig: connection, ForceAttemptHTTP2: true},
	}}
}

// do sends a request and returns what is answered, an object or a Status.
func (c client) do(method, path, contentType string, body any) (int, Object, error) {
	var data []byte

	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return 0, nil, err
		}
	}

	request, err := http.NewRequest(method, c.url+path, bytes.NewReader(data))
	if err != nil {
		return 0, nil, err
	}

	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}

	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()

	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil, err
	}

	var object Object
	if err := json.Unmarshal(answer, &object); err != nil {
		return 0, nil, fmt.Errorf("%s %s: %s: %.200s", method, path, response.Status, answer)
	}

	return response.StatusCode, object, nil
}

// Do sends a request to the API server and returns the answer whatever it is:
// the HTTP status with an object or a Status. A nil body is none.
func (c *Cluster) Do(t testing.TB, method, path, contentType string, body any) (int, Object) {
	t.Helper()

	status, answer, err := c.client.do(method, path, contentType, body)
	if err != nil {
		t.Fatal(err)
	}

	return status, answer
}

// must is Do for requests that have to succeed.
func (c *Cluster) must(t testing.TB, method, path, contentType string, body any) Object {
	t.Helper()

	status, answer := c.Do(t, method, path, contentType, body)
	if status >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d: %s", method, path, status, answer.Text("message"))
	}

	return answer
}

// Get returns the object, or the list, at an API path; nil if there is none.
func (c *Cluster) Get(t testing.TB, path string) Object {
	t.Helper()

	status, answer := c.Do(t, http.MethodGet, path, "", nil)

	switch {
	case status == http.StatusNotFound:
		return nil
	case status != http.StatusOK:
		t.Fatalf("get %s: %d: %s", path, status, answer.Text("message"))
	}

	return answer
}

// Patch changes the object at an API path by a [MergePatch] or [JSONPatch].
func (c *Cluster) Patch(t testing.TB, path, contentType string, patch any) Object {
	t.Helper()

	return c.must(t, http.MethodPatch, path+"?"+url.Values{"fieldManager": {manager}}.Encode(), contentType, patch)
}

// Delete removes the object at an API path, with all that belongs to it. It
// may be there for a while yet.
func (c *Cluster) Delete(t testing.TB, path string) {
	t.Helper()

	c.must(t, http.MethodDelete, path+"?propagationPolicy=Background", "", nil)
}

// WaitFor waits until the object at an API path, nil if there is none, is as
// the condition wants it, and returns it. It fails the test if that takes too
// long, and says how the object was.
func (c *Cluster) WaitFor(t testing.TB, path string, condition func(Object) bool, timeout time.Duration) Object {
	t.Helper()

	var last Object

	err := poll(timeout, func() error {
		if last = c.Get(t, path); !condition(last) {
			return fmt.Errorf("%s is not as expected after %s", path, timeout)
		}

		return nil
	})
	if err != nil {
		t.Fatalf("%v:\n%s", err, last.describe())
	}

	return last
}
