package addon

import (
	"bytes"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/catalogue"
)

var errElsewhere = errors.New("a schema has to hold all of itself")

// schemaURL is what the schema of a chart is called while it is compiled. What
// it refers to by a relative path then begins with schemaBase.
const (
	schemaName = "values.schema.json"
	schemaBase = "chart:///"
)

// closed is the loader of schemas from elsewhere: there are none. Helm's own
// validation would fetch them from the network and from the file system.
type closed struct{}

// Load refuses.
func (closed) Load(url string) (any, error) {
	return nil, errElsewhere
}

// checkSchemas validates values against the schemas of the chart and its
// subcharts.
func (c *chart) checkSchemas(a catalogue.Addon, values map[string]any) error {
	var problems diag.List
	var check func(at *chartv2.Chart, values map[string]any, before string)
	check = func(at *chartv2.Chart, values map[string]any, before string) {
		if at.Schema != nil {
			problems.AddErr(c.checkSchema(a, at, values, before))
		}
		for _, sub := range at.Dependencies() {
			if inner, ok := asMap(values[sub.Name()]); ok {
				check(sub, inner, before+sub.Name()+".")
			}
		}
	}
	check(c.Chart, values, "")
	return problems.Err()
}

func (c *chart) checkSchema(a catalogue.Addon, at *chartv2.Chart, values map[string]any, before string) error {
	pos := diag.Pos{File: c.place(at.ChartFullPath() + "/" + schemaName)}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(at.Schema))
	if err != nil {
		return diag.New(pos, "not valid JSON: %v", err).WithCause(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(closed{})
	if err := compiler.AddResource(schemaBase+schemaName, document); err != nil {
		return diag.New(pos, "no schema: %v", err).WithCause(err)
	}
	schema, err := compiler.Compile(schemaBase + schemaName)
	var elsewhere *jsonschema.LoadURLError
	switch {
	case errors.As(err, &elsewhere):
		return diag.New(pos, "refers to %s: %v", strings.TrimPrefix(elsewhere.URL, schemaBase), errElsewhere).WithCause(err)
	case err != nil:
		return diag.New(pos, "no schema that can be used: %s", strings.Join(strings.Fields(err.Error()), " ")).WithCause(err)
	}
	err = schema.Validate(plain(values))
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	var problems diag.List
	for _, leaf := range leaves(invalid) {
		where := strings.TrimSuffix(before+strings.Join(leaf.InstanceLocation, "."), ".")
		if where != "" {
			where += ": "
		}
		problems.Add(diag.On(a.Origin, "the values of the addon %s: %s%s", a.Name, where,
			leaf.ErrorKind.LocalizedString(message.NewPrinter(language.English))).
			WithHint("the chart says so in %s", pos.File))
	}
	return problems.Err()
}

// leaves are the causes of a validation error.
func leaves(e *jsonschema.ValidationError) (all []*jsonschema.ValidationError) {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}
