package simtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestShapesAreTheDescription compares the shapes with the API's description,
// where that is at hand: what it requires is required, and types are the same.
func TestShapesAreTheDescription(t *testing.T) {
	all, err := theShapes()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	if doc == nil {
		t.Skip("the description of the API is not there")
	}
	for _, o := range all.operations {
		if o.newer {
			continue
		}
		name := o.method + " " + o.path
		item := doc.Paths.Value(o.path)
		if item == nil || item.GetOperation(o.method) == nil {
			t.Errorf("%s: not described", name)
			continue
		}
		op := item.GetOperation(o.method)
		answer := op.Responses.Status(o.status)
		if answer == nil {
			t.Errorf("%s: status %d is not described", name, o.status)
			continue
		}
		if o.out != nil {
			report(t, name+" answer", all.compare(o.out, schemaOf(answer.Value.Content), "", false))
		}
		if o.in != nil {
			report(t, name+" request", all.compare(o.in, schemaOf(op.RequestBody.Value.Content), "", true))
		}
	}
}

func report(t *testing.T, at string, problems []string) {
	t.Helper()
	for _, p := range problems {
		t.Errorf("%s%s", at, p)
	}
}

func schemaOf(c openapi3.Content) []*openapi3.Schema {
	m := c.Get("application/json")
	if m == nil {
		return nil
	}
	return variants(m.Schema.Value)
}

// variants are the objects that a schema may be: itself, or what it is composed
// of.
func variants(s *openapi3.Schema) (list []*openapi3.Schema) {
	if len(s.AllOf)+len(s.OneOf)+len(s.AnyOf) == 0 {
		return []*openapi3.Schema{s}
	}
	for _, r := range slices.Concat(s.AllOf, s.OneOf, s.AnyOf) {
		list = append(list, variants(r.Value)...)
	}
	if len(s.Properties) > 0 {
		list = append(list, s)
	}
	return list
}

// compare returns in what a shape differs from the variants of a schema.
func (all *shapes) compare(s *shape, described []*openapi3.Schema, at string, request bool) (problems []string) {
	s = all.resolve(s)
	if len(described) == 0 || s.kind == "any" {
		return nil
	}
	switch s.kind {
	case "object":
		return all.compareFields(s, described, at, request)
	case "list":
		if described[0].Items == nil {
			return []string{at + " is no list in the description"}
		}
		return all.compare(s.of, variants(described[0].Items.Value), at+"[]", request)
	}
	kinds := map[string]string{"string": "string", "time": "string", "enum": "string", "int": "integer", "num": "number", "bool": "boolean", "map": "object"}
	for _, d := range described {
		want := kinds[s.kind]
		if want == "" {
			want = "string" // an enum of one text
		}
		if d.Type != nil && !d.Type.Is(want) && (want != "number" || !d.Type.Is("integer")) {
			problems = append(problems, fmt.Sprintf("%s is %s, not %v", at, s.kind, *d.Type))
		}
		for _, text := range d.Enum {
			if text, is := text.(string); is && s.kind == "enum" && !slices.Contains(s.texts, text) {
				problems = append(problems, at+" may be "+text)
			}
		}
		if !request && d.Nullable && !s.null {
			problems = append(problems, at+" may be null")
		}
	}
	return problems
}

func (all *shapes) compareFields(s *shape, described []*openapi3.Schema, at string, request bool) (problems []string) {
	for _, f := range s.fields {
		var under []*openapi3.Schema
		for _, d := range described {
			if p := d.Properties[f.name]; p != nil {
				under = append(under, variants(p.Value)...)
			}
		}
		if len(under) == 0 && !f.newer {
			problems = append(problems, at+"."+f.name+" is not described")
		}
		problems = append(problems, all.compare(f.shape, under, at+"."+f.name, request)...)
	}
	for _, d := range described {
		for _, name := range d.Required {
			i := slices.IndexFunc(s.fields, func(f field) bool { return f.name == name })
			switch {
			case i < 0:
				problems = append(problems, at+"."+name+" is missing here")
			case request && !s.fields[i].required && len(described) == 1:
				problems = append(problems, at+"."+name+" is required")
			}
		}
	}
	return problems
}

func TestShapeProblems(t *testing.T) {
	all, err := parseShapes(strings.Join([]string{
		"# a comment",
		"in = {name! size:int color:red|blue}",
		"thing = {id:int name when:time done:time? list:[{n:num}] labels:map extra~:bool of:one}",
		"POST /things in 201 {thing:thing}",
		"GET /things/{id} 200 {thing:thing}",
		"DELETE /things/{id} 204",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	good := `{"thing": {"id": 1, "name": "a", "when": "2026-11-01T00:00:00Z", "done": null, "list": [{"n": 1.5}], "labels": {"a": "b"}, "of": "one"}}`
	for _, tt := range []struct {
		method, path, in string
		status           int
		out, want        string
	}{
		{"POST", "/things", `{"name": "a", "size": 3, "color": "red"}`, 201, good, ""},
		{"GET", "/things/1", ``, 200, good, ""},
		{"DELETE", "/things/1", ``, 204, ``, ""},
		{"GET", "/things/1", ``, 404, `{"error": {"code": "not_found", "message": "x", "details": null}}`, ""},
		{"GET", "/things/1", ``, 404, `{"error": {"code": 5}}`, "answer.error.code is 5, not string\nanswer.error.message is absent\nanswer.error.details is absent"},
		{"GET", "/others", ``, 200, `{}`, "there is no shape for the operation"},
		{"GET", "/things/1", ``, 201, good, "status 201, not 200"},
		{"POST", "/things", ``, 201, good, "request.name is absent"},
		{"POST", "/things", `{"name": "a", "size": 1.5, "color": "green", "more": 1}`, 201, good,
			"request.size is 1.5, not int\nrequest.color is green, not red blue enum\nrequest.more is unknown"},
		{"GET", "/things/1", ``, 200, strings.Replace(good, "2026-11-01T00:00:00Z", "today", 1), "answer.thing.when is today, not time"},
		{"GET", "/things/1", ``, 200, strings.Replace(good, `"of": "one"`, `"of": "two", "extra": null`, 1),
			"answer.thing.extra is null\nanswer.thing.of is two, not one"},
		{"GET", "/things/1", ``, 200, strings.Replace(good, `[{"n": 1.5}]`, `[{"n": "x"}, 5]`, 1),
			"answer.thing.list[0].n is x, not num\nanswer.thing.list[1] is no object"},
		{"GET", "/things/1", ``, 200, strings.Replace(good, `{"a": "b"}`, `{"a": 1}`, 1), "answer.thing.labels is map[a:1], not map"},
		{"GET", "/things/1", ``, 200, ``, "answer is null"},
	} {
		got := strings.Join(all.checkCall(tt.method, tt.path, decoded([]byte(tt.in)), tt.status, decoded([]byte(tt.out))), "\n")
		if got != tt.want {
			t.Errorf("%s %s %s %s:\n%s\nwant:\n%s", tt.method, tt.path, tt.in, tt.out, got, tt.want)
		}
	}
}

func TestShapeSyntax(t *testing.T) {
	for text, want := range map[string]string{
		"a = {b ":          "an object does not end",
		"a = {b:[int}":     "a list does not end",
		"a = {:int}":       "no field",
		"a = int more":     `what is "more"?`,
		"GET /a 200 {b} c": `what is "c"?`,
		"GET /a {b} two":   "expected integer",
	} {
		if _, err := parseShapes(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOverlay(t *testing.T) {
	var doc object
	text := `{"paths": {"/x": {"get": {"responses": {"4xx": {}, "200": {"discriminator": {}, "required": ["datacenter", "id"],
		"properties": {"assignee_type": {"enum": ["server"]}}}}}}}}`
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	overlay(doc)
	got, err := json.Marshal(doc)
	want := `{"paths":{"/x":{"get":{"responses":{"200":{"properties":{"assignee_type":{"enum":["server","load_balancer","unassigned"]}},"required":["id"]},"4XX":{}}}}}}`
	if err != nil || string(got) != want {
		t.Errorf("%s %v", got, err)
	}
}
