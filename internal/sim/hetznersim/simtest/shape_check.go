package simtest

import (
	_ "embed" // the shapes
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed shapes.txt
var shapesText string

// theShapes are those of this package.
var theShapes = sync.OnceValues(func() (*shapes, error) { return parseShapes(shapesText) })

// Shaped reports whether there is a shape for an operation, such as
// "GET /servers/{id}". Lists of actions have the same everywhere.
func Shaped(method, path string) (bool, error) {
	all, err := theShapes()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(all.operations, func(o operation) bool { return o.method == method && o.path == path }) ||
		method == "GET" && actionsOf(path) != "", nil
}

// actionsOf is the operation that has the answer of one that reads the actions
// of a resource; empty if the path is no such one.
func actionsOf(path string) string {
	before, id, found := strings.Cut(path, "/actions")
	switch {
	case !found || before == "" || strings.Contains(strings.TrimPrefix(id, "/"), "/"):
		return ""
	case id == "":
		return "/actions"
	}
	return "/actions/{id}"
}

// operation finds the operation of a request.
func (all *shapes) operation(method, path string) *operation {
	if actions := actionsOf(path); method == "GET" && actions != "" {
		path = strings.ReplaceAll(actions, "{id}", "0")
	}
	var best *operation
	braces := 0
	for i, o := range all.operations {
		params, fits := match(o.path, path)
		if fits && o.method == method && (best == nil || len(params) < braces) {
			best, braces = &all.operations[i], len(params)
		}
	}
	return best
}

// failure is the answer to a request that fails.
var failure = &shape{kind: "object", fields: []field{{name: "error", shape: &shape{kind: "object", fields: []field{
	{name: "code", shape: &shape{kind: "string"}}, {name: "message", shape: &shape{kind: "string"}}, {name: "details", shape: &shape{kind: "any", null: true}},
}}}}}

// checkCall returns what is wrong with a request that was accepted, and with
// its answer. Bodies are JSON values, nil for none.
func (all *shapes) checkCall(method, path string, in any, status int, out any) (problems []string) {
	if status >= 400 {
		return all.check(failure, out, "answer", false)
	}
	o := all.operation(method, path)
	if o == nil {
		return []string{"there is no shape for the operation"}
	}
	if o.status != status && (o.method != "DELETE" || status != 204) {
		problems = append(problems, fmt.Sprintf("status %d, not %d", status, o.status))
	}
	if o.in != nil {
		if in == nil {
			in = map[string]any{}
		}
		problems = append(problems, all.check(o.in, in, "request", true)...)
	}
	if o.out != nil && status != 204 {
		problems = append(problems, all.check(o.out, out, "answer", false)...)
	}
	return problems
}

// check returns what is wrong with a value.
func (all *shapes) check(s *shape, value any, at string, request bool) (problems []string) {
	if value == nil {
		if s.null || s.kind == "any" {
			return nil
		}
		return []string{at + " is null"}
	}
	if s.kind == "object" || all.named[s.kind] != nil {
		return all.checkObject(all.resolve(s), value, at, request)
	}
	if s.kind == "list" {
		list, is := value.([]any)
		if !is {
			return []string{at + " is no list"}
		}
		for i, v := range list {
			problems = append(problems, all.check(s.of, v, fmt.Sprintf("%s[%d]", at, i), request)...)
		}
		return problems
	}
	if !s.fits(value) {
		return []string{fmt.Sprintf("%s is %v, not %s", at, value, strings.Join(append(s.texts, s.kind), " "))}
	}
	return nil
}

// resolve follows the name of a shape.
func (all *shapes) resolve(s *shape) *shape {
	if named := all.named[s.kind]; named != nil {
		return named
	}
	return s
}

func (all *shapes) checkObject(s *shape, value any, at string, request bool) (problems []string) {
	object, is := value.(map[string]any)
	if !is {
		return []string{at + " is no object"}
	}
	known := map[string]bool{}
	for _, f := range s.fields {
		known[f.name] = true
		v, found := object[f.name]
		switch {
		case found:
			problems = append(problems, all.check(f.shape, v, at+"."+f.name, request)...)
		case request && f.required, !request && !f.absent:
			problems = append(problems, at+"."+f.name+" is absent")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !known[name] {
			problems = append(problems, at+"."+name+" is unknown")
		}
	}
	return problems
}

// fits checks a value that is neither null, a list nor an object of a shape.
func (s *shape) fits(value any) bool {
	text, isText := value.(string)
	number, isNumber := value.(float64)
	_, isBool := value.(bool)
	switch s.kind {
	case "any":
		return true
	case "string":
		return isText
	case "enum":
		return slices.Contains(s.texts, text)
	case "time":
		_, err := time.Parse(time.RFC3339, text)
		return isText && err == nil
	case "num":
		return isNumber
	case "int":
		return isNumber && number == math.Trunc(number)
	case "bool":
		return isBool
	case "map":
		m, is := value.(map[string]any)
		return is && !slices.ContainsFunc(slices.Collect(maps.Values(m)), func(v any) bool { _, text := v.(string); return !text })
	}
	return isText && s.kind == text // an enum of one
}
