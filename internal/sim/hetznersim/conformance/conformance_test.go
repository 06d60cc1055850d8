package conformance

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// answers is an API that gives each call the next of some answers, and notes the
// calls.
type answers struct {
	list  []string // "200 {…}"
	calls []string
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.calls = append(a.calls, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
	next := a.list[0]
	a.list = a.list[1:]
	code := map[string]int{"200": 200, "201": 201, "404": 404}[next[:3]]
	w.WriteHeader(code)
	_, _ = io.WriteString(w, next[4:])
}

func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		answers      []string
		want         string // of the error; empty for none
		calls        string
	}{
		{"values are taken and used",
			"x\nwrites\nPOST /a {\"name\": \"$run-a\", \"list\": [1]}\n=> 201 {\"a\": {\"id\": \"$id\", \"name\": \"$run-a\"}}\nPUT /a/$id {\"peer\": \"$id\",\n  \"text\": \"no-$id\"}\n=> 200",
			[]string{`201 {"a": {"id": 5, "name": "r7-a", "more": 1}}`, `200 {}`}, "",
			"POST /a {\"list\":[1],\"name\":\"r7-a\"}\nPUT /a/5 {\"peer\":5,\"text\":\"no-5\"}"},
		{"a value that differs", "x\nreads\nGET /a\n=> 200 {\"a\": {\"n\": 1}}", []string{`200 {"a": {"n": 2}}`},
			"s:3: GET /a → 200 {\"a\":{\"n\":2}}:\n\t.a.n is 2, not 1", "GET /a"},
		{"a value that changed", "x\nreads\nGET /a\n=> 200 {\"n\": \"$n\"}\nGET /a\n=> 200 {\"n\": \"$n\"}",
			[]string{`200 {"n": 1}`, `200 {"n": 2}`}, ".n is 2, not $n", "GET /a\nGET /a"},
		{"what is absent", "x\nreads\nGET /a\n=> 200 {\"n\": \"*\"}", []string{`200 {}`}, ".n is absent", "GET /a"},
		{"lists", "x\nreads\nGET /a\n=> 200 {\"l\": [{\"n\": 1}], \"m\": [1, \"...\"], \"e\": []}",
			[]string{`200 {"l": [{"n": 1}], "m": [1, 2, 3], "e": [1]}`}, ".e is [1], not []", "GET /a"},
		{"an error", "x\nreads\nGET /a\n=> 404 not_found gone away", []string{`404 {"error": {"code": "not_found", "message": "gone away"}}`}, "", "GET /a"},
		{"another error", "x\nreads\nGET /a\n=> 404 not_found", []string{`200 {"error": {"code": "other"}}`},
			"status 200, not 404\n\t.error.code is other, not not_found", "GET /a"},
		{"an action", "x\nreads\nGET /a\n=> 200 {\"id\": \"$id\"}\nwait $id", []string{`200 {"id": 1}`,
			`200 {"action": {"status": "running"}}`, `200 {"action": {"status": "success"}}`}, "", "GET /a\nGET /actions/1\nGET /actions/1"},
		{"an action that fails", "x\nreads\nGET /a\n=> 200 {\"id\": \"$id\"}\nwait $id", []string{`200 {"id": 1}`,
			`200 {"action": {"status": "error"}}`}, "s:5: action 1: ", "GET /a\nGET /actions/1"},
		{"cleanup after a difference", "x\nwrites\nGET /a\n=> 200 {\"id\": \"$a\"}\nGET /b\n=> 404\nGET /c\ncleanup\nDELETE /a/$a\nDELETE /c/$c",
			[]string{`200 {"id": 1}`, `200 {}`, `200 {}`}, "s:5: GET /b", "GET /a\nGET /b\nDELETE /a/1"},
		{"no JSON", "x\nreads\nGET /a", []string{"200 oh"}, "the answer is no JSON", "GET /a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			api := &answers{list: tt.answers}
			server := httptest.NewServer(api)
			defer server.Close()
			script, err := Parse("s", tt.script)
			if err != nil {
				t.Fatal(err)
			}
			err = script.Run(t.Context(), Target{Endpoint: server.URL, Token: "t", Client: server.Client(), Run: "r7",
				Pause: func(context.Context) error { return nil }})
			if got := strings.Join(api.calls, "\n"); got != tt.calls {
				t.Errorf("calls:\n%s\nwant:\n%s", got, tt.calls)
			}
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"about\nGET /a":                     "s: neither reads nor writes",
		"about\nreads\n=> 200":              "s:3: an expectation before the first call",
		"about\nreads\nPATCH /a":            `s:3: "PATCH" is no call, wait or expectation`,
		"about\nreads\nGET /a {":            "s:3: unexpected end of JSON input",
		"about\nreads\nGET /a\n=> ok":       `s:4: "ok" is no status`,
		"about\nreads\n\nGET /a\n=> 200 {x": "s:5: invalid character",
	} {
		if _, err := Parse("s", text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
