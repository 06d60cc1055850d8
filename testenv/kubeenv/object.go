package kubeenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Object is an object of the API as it is in JSON.
type Object map[string]any

// Value returns what is below a path of keys, or nil.
func (o Object) Value(path ...string) any {
	var value any = map[string]any(o)

	for _, key := range path {
		m, ok := value.(map[string]any)
		if !ok {
			return nil
		}

		value = m[key]
	}

	return value
}

// Text returns the string below a path of keys, or "".
func (o Object) Text(path ...string) string {
	text, _ := o.Value(path...).(string)

	return text
}

// Map returns the map below a path of keys, or nil.
func (o Object) Map(path ...string) map[string]any {
	m, _ := o.Value(path...).(map[string]any)

	return m
}

// List returns the list below a path of keys, or nil.
func (o Object) List(path ...string) []any {
	list, _ := o.Value(path...).([]any)

	return list
}

// Version is the resourceVersion, which changes with every change.
func (o Object) Version() string { return o.Text("metadata", "resourceVersion") }

// Managers are the field managers, sorted, as "name Operation" or "name
// Operation subresource".
func (o Object) Managers() []string {
	var managers []string

	for _, entry := range o.List("metadata", "managedFields") {
		e, _ := entry.(map[string]any)

		manager := fmt.Sprintf("%s %s", e["manager"], e["operation"])
		if sub, ok := e["subresource"]; ok {
			manager += fmt.Sprintf(" %s", sub)
		}

		managers = append(managers, manager)
	}

	slices.Sort(managers)

	return managers
}

// Condition returns the status of a condition, "True", "False" or "Unknown",
// with its message; "" if there is none, or if it is about an older generation
// of the object.
func (o Object) Condition(kind string) (status, message string) {
	for _, entry := range o.List("status", "conditions") {
		condition, _ := entry.(map[string]any)
		c := Object(condition)

		observed := c.Value("observedGeneration")
		if c.Text("type") == kind && (observed == nil || observed == o.Value("metadata", "generation")) {
			return c.Text("status"), c.Text("message")
		}
	}

	return "", ""
}

// Ready tells whether an object has the condition Ready. It is a condition for
// [Cluster.WaitFor].
func Ready(o Object) bool {
	status, _ := o.Condition("Ready")

	return status == "True"
}

// Exists tells whether there is an object. It is a condition for
// [Cluster.WaitFor].
func Exists(o Object) bool { return o != nil }

// Gone tells whether there is no object. It is a condition for
// [Cluster.WaitFor].
func Gone(o Object) bool { return o == nil }

// describe is the object for an error: without what is long and says little,
// and without the values of a Secret.
func (o Object) describe() string {
	if o == nil {
		return "there is no object"
	}

	shown := maps.Clone(o)

	metadata := maps.Clone(o.Map("metadata"))
	delete(metadata, "managedFields")
	shown["metadata"] = metadata

	if o.Text("kind") == "Secret" {
		delete(shown, "data")
	}

	text, err := json.MarshalIndent(shown, "", "  ")
	if err != nil {
		return err.Error()
	}

	return string(text)
}

// parse reads the objects of YAML documents; empty ones are left out.
func parse(documents string) ([]Object, error) {
	var objects []Object

	decoder := yaml.NewDecoder(strings.NewReader(documents))

	for {
		var object map[string]any

		err := decoder.Decode(&object)

		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case object != nil:
			objects = append(objects, object)
		}
	}
}
