package kubeenv

import (
	"slices"
	"strings"
	"testing"
)

// object reads one object.
func object(t *testing.T, document string) Object {
	t.Helper()

	objects, err := parse(document)
	if err != nil || len(objects) != 1 {
		t.Fatalf("%d objects in %q: %v", len(objects), document, err)
	}

	return objects[0]
}

func TestReady(t *testing.T) {
	tests := []struct {
		name, document string
		want           bool
	}{
		{"true", "{metadata: {generation: 2}, status: {conditions: [{type: Other, status: 'False'}, {type: Ready, status: 'True'}]}}", true},
		{"false", "{metadata: {generation: 2}, status: {conditions: [{type: Ready, status: 'False'}]}}", false},
		{"of this generation", "{metadata: {generation: 2}, status: {conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}}", true},
		{"of an older one", "{metadata: {generation: 2}, status: {conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}}", false},
		{"no condition", "{metadata: {generation: 2}, status: {conditions: []}}", false},
		{"no status", "{metadata: {generation: 2}}", false},
	}

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Ready(object(t, test.document)); got != test.want {
				t.Errorf("ready: %t, want %t", got, test.want)
			}
		})
	}

	if Ready(nil) || Exists(nil) || !Gone(nil) {
		t.Error("there is something where there is no object")
	}
}

func TestObject(t *testing.T) {
	o := object(t, `{kind: Secret, data: {key: aGlkZGVu}, metadata: {name: one, resourceVersion: "7",
		managedFields: [{manager: z, operation: Apply}, {manager: a, operation: Update, subresource: status}]}}`)

	if o.Version() != "7" || o.Text("metadata", "name") != "one" || o.Text("metadata", "name", "deeper") != "" || o.Value("none", "at", "all") != nil {
		t.Errorf("values of %v", o)
	}

	if got, want := o.Managers(), []string{"a Update status", "z Apply"}; !slices.Equal(got, want) {
		t.Errorf("managers %q, want %q", got, want)
	}

	text := o.describe()
	if !strings.Contains(text, `"name": "one"`) || strings.Contains(text, "aGlkZGVu") || strings.Contains(text, "managedFields") {
		t.Errorf("described as %s", text)
	}

	if o.Text("data", "key") == "" || len(o.Managers()) != 2 {
		t.Error("describing the object changed it")
	}
}

func TestParseErrors(t *testing.T) {
	for _, document := range []string{"a: [", "- list", "---\na: b\n---\ntext\n"} {
		if objects, err := parse(document); err == nil {
			t.Errorf("%q is %v", document, objects)
		}
	}
}
