package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/urfave/cli/v2"
	"sigs.k8s.io/yaml"

	"github.com/talosgen/talosgen/internal/jsonshape"
)

// noShape is the exit code of a talosgen that prints what no schema is of.
const noShape = 98

// mustHaveShape ends a tested talosgen that prints something for programs of which there
// is no schema, or that its schema does not allow, or that is something else in YAML.
func mustHaveShape(v any, text []byte) {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	known := false
	for _, shape := range shapes() {
		known = known || shape == t
	}
	err := fmt.Errorf("no command is said to print %s", t)
	if known {
		err = errors.Join(validOutput(t, text), sameInYAML(text))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s\n", err, text)
		os.Exit(noShape)
	}
}

// sameInYAML says what JSON differs from that is written as YAML and read again.
func sameInYAML(text []byte) error {
	inYAML, err := yamlOf(text)
	if err != nil {
		return err
	}
	again, err := yaml.YAMLToJSON(inYAML)
	if err != nil {
		return err
	}
	var want, got any
	if err := errors.Join(json.Unmarshal(text, &want), json.Unmarshal(again, &got)); err != nil {
		return err
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("in YAML it is something else:\n%s", inYAML)
	}
	return nil
}

// validOutput says how a text is not as the schema of a type says.
func validOutput(t reflect.Type, text []byte) error {
	schema, err := jsonshape.Of("output", reflect.New(t).Elem().Interface())
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:output", doc); err != nil {
		return err
	}
	s, err := c.Compile("mem:output")
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// TestShapes: each command that prints JSON has a schema, and each schema is of such a
// command. What scripts print is valid by it: [mustHaveShape].
func TestShapes(t *testing.T) {
	w, _, _ := testApp()
	var prints []string
	var walk func(words []string, all []*cli.Command)
	walk = func(words []string, all []*cli.Command) {
		for _, c := range all {
			words := append(slices.Clone(words), c.Name)
			for _, f := range c.Flags {
				if of, is := f.(formats); is && slices.Contains(of.names, "json") {
					prints = append(prints, strings.Join(words, " "))
				}
			}
			walk(words, c.Subcommands)
		}
	}
	walk(nil, newCLI(w).Commands)
	known := shapes()
	for _, name := range prints {
		if known[name] == nil {
			t.Errorf("%s -o json has no schema", name)
		}
	}
	for name := range known {
		command := strings.TrimSuffix(name, " all")
		if name == "upgrade plan" {
			command = "upgrade"
		}
		if !slices.Contains(prints, command) && name != runDocument {
			t.Errorf("there is a schema of %s, which prints no JSON", name)
		}
		if _, err := outputSchema(strings.Fields(name)); err != nil {
			t.Error(err)
		}
	}
}

// runSchema is where the schema of what webhooks get is published.
const runSchema = "../../schemas/run.schema.json"

// TestRunSchema: the schema that is published is that of this program.
func TestRunSchema(t *testing.T) {
	want, err := outputSchema([]string{runDocument})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(runSchema, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(runSchema)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what `talosgen schema output run` prints (%v): go generate ./cmd/talosgen", runSchema, err)
	}
}
