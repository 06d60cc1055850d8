package simtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// Serve serves a simulator on loopback until the test ends, and returns the
// endpoint for clients. A request that the simulator accepts though the
// description of the API does not, and an answer that is not as described, fail
// the test.
func Serve(t testing.TB, sim *hetznersim.Sim) (endpoint string) {
	t.Helper()
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	known, err := theShapes()
	if err != nil {
		t.Fatal(err)
	}
	if doc == nil {
		t.Log("the description of the Hetzner Cloud API is not there: requests and answers are compared with shapes only; see internal/sim/hetznersim/simtest")
	}
	server := httptest.NewServer(&checker{t, sim, doc, known})
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// checker stands before a simulator.
type checker struct {
	t   testing.TB
	sim http.Handler
	doc *openapi3.T // nil if it is not there
	all *shapes
}

// ServeHTTP lets the simulator answer, and compares.
func (c *checker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone away
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	rec := httptest.NewRecorder()
	c.sim.ServeHTTP(rec, r)
	problems := c.all.checkCall(r.Method, strings.TrimPrefix(r.URL.Path, "/v1"), decoded(body), rec.Code, decoded(rec.Body.Bytes()))
	if c.doc != nil {
		problems = append(problems, c.compare(r, body, rec)...)
	}
	for _, problem := range problems {
		c.t.Errorf("%s %s %s → %d %s: %s", r.Method, r.URL, body, rec.Code, rec.Body, problem)
	}
	for k, v := range rec.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

// decoded is JSON as a value: nil if it is none.
func decoded(text []byte) (value any) {
	if err := json.Unmarshal(text, &value); err != nil {
		return nil
	}
	return value
}

// compare compares a call with the description.
func (c *checker) compare(r *http.Request, body []byte, rec *httptest.ResponseRecorder) (problems []string) {
	route, params := c.route(r.Method, strings.TrimPrefix(r.URL.Path, "/v1"))
	if route == nil {
		if rec.Code < 400 && !undescribed(r.URL.Path) {
			problems = append(problems, "the description has no such operation")
		}
		return problems
	}
	copied := r.Clone(r.Context())
	copied.Body = io.NopCloser(bytes.NewReader(body))
	if len(body) > 0 && copied.Header.Get("Content-Type") == "" {
		problems = append(problems, "the request has a body and no Content-Type")
	}
	o := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
		SkipSettingDefaults: true, IncludeResponseStatus: true}
	o.WithCustomSchemaErrorFunc(func(err *openapi3.SchemaError) string {
		return strings.Join(err.JSONPointer(), ".") + ": " + err.Reason
	})
	in := &openapi3filter.RequestValidationInput{Request: copied, PathParams: params, Route: route, Options: o}
	if rec.Code < 400 {
		if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
			problems = append(problems, "request: "+err.Error())
		}
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: rec.Code, Header: rec.Header(),
		Body: io.NopCloser(bytes.NewReader(rec.Body.Bytes())), Options: in.Options}
	if err := openapi3filter.ValidateResponse(r.Context(), out); err != nil {
		problems = append(problems, "answer: "+err.Error())
	}
	return problems
}

// undescribed are operations that are newer than the description.
func undescribed(path string) bool {
	return strings.HasPrefix(path, "/v1/networks/") && strings.HasSuffix(path, "/members")
}

// route finds the operation of a request: the path with the fewest braces that
// fits.
func (c *checker) route(method, path string) (*routers.Route, map[string]string) {
	var best *routers.Route
	var with map[string]string
	for _, template := range c.doc.Paths.InMatchingOrder() {
		params, fits := match(template, path)
		item := c.doc.Paths.Value(template)
		if !fits || item.GetOperation(method) == nil || best != nil && len(params) >= len(with) {
			continue
		}
		best, with = &routers.Route{Spec: c.doc, Path: template, PathItem: item, Method: method, Operation: item.GetOperation(method)}, params
	}
	return best, with
}

// match fits a path into a template such as "/servers/{id}".
func match(template, path string) (map[string]string, bool) {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return nil, false
	}
	params := map[string]string{}
	for i, segment := range want {
		if name, isParam := strings.CutPrefix(segment, "{"); isParam {
			params[strings.TrimSuffix(name, "}")] = got[i]
		} else if segment != got[i] {
			return nil, false
		}
	}
	return params, true
}
