package simtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// specFile is where the description of the API is kept, beside the checkout.
const specFile = "shared/specs/hetzner-cloud.openapi.json"

// SpecFile is where the description of the API is, and whether it is there: named by
// the environment, or beside a folder that the working directory lies in.
func SpecFile() (name string, found bool) {
	if name := os.Getenv("TALOSGEN_HETZNER_SPEC"); name != "" {
		return name, exists(name)
	}
	const deepest = 10
	dir := ""
	for range deepest {
		if name = filepath.Join(dir, specFile); exists(name) {
			return name, true
		}
		dir = filepath.Join(dir, "..")
	}
	return specFile, false
}

// exists reports whether there is such a file, or one that cannot be looked at,
// which reading it will tell.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// description is the API's description with what has changed since, or nil if
// it is not there. Reading it takes seconds, so it is read once.
var description = sync.OnceValues(func() (*openapi3.T, error) {
	name, found := SpecFile()
	if !found {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	overlay(doc)
	if text, err = json.Marshal(doc); err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
})

type object = map[string]any

// overlay brings the description of June 2026 up to November, and lets pass
// what Hetzner's own client sends and the API accepts.
func overlay(doc object) {
	walk(doc, func(o object) {
		// The validator takes a discriminator without mapping for one with.
		delete(o, "discriminator")
		// Gone since 2026-07-01; the others are what the client leaves out.
		optional(o, "datacenter", "proxyprotocol", "health_check", "domain")
		properties, _ := o["properties"].(object)
		if kind, found := properties["assignee_type"].(object); found {
			kind["enum"] = []any{"server", "load_balancer", "unassigned"} // since 2026-08-01
			optional(o, "assignee_type")
		}
	})
	for path, item := range doc["paths"].(object) {
		for method, op := range item.(object) {
			if op, is := op.(object); is {
				amend(method+" "+path, op)
			}
		}
	}
}

// amend changes one operation.
func amend(name string, op object) {
	responses, _ := op["responses"].(object)
	for lower, upper := range map[string]string{"4xx": "4XX", "5xx": "5XX"} {
		if r, found := responses[lower]; found {
			responses[upper] = r
			delete(responses, lower)
		}
	}
	switch name {
	case "post /servers":
		properties := bodyOf(op)
		// The client sends IDs as numbers.
		properties["image"], properties["server_type"] = object{}, object{}
		properties["ssh_keys"] = object{"type": "array", "items": object{}}
	case "post /servers/{id}/actions/rebuild":
		bodyOf(op)["image"] = object{}
	case "post /servers/{id}/actions/create_image":
		bodyOf(op)["description"] = object{"type": "string", "nullable": true}
	case "delete /load_balancers/{id}":
		// An action since 2026-10-05.
		responses["201"] = object{"description": "", "content": object{"application/json": object{"schema": object{
			"type": "object", "required": []any{"action"}, "properties": object{"action": object{"type": "object"}}}}}}
	}
}

// bodyOf are the properties of an operation's request.
func bodyOf(op object) object {
	return op["requestBody"].(object)["content"].(object)["application/json"].(object)["schema"].(object)["properties"].(object)
}

// walk calls visit with every object of a document.
func walk(node any, visit func(object)) {
	switch node := node.(type) {
	case object:
		visit(node)
		for _, v := range node {
			walk(v, visit)
		}
	case []any:
		for _, v := range node {
			walk(v, visit)
		}
	}
}

// optional takes properties from those that a schema requires.
func optional(schema object, names ...string) {
	required, is := schema["required"].([]any)
	if !is {
		return
	}
	schema["required"] = slices.DeleteFunc(required, func(r any) bool {
		name, _ := r.(string)
		return slices.Contains(names, name)
	})
}
