package hetznersim_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/simtest"
)

// byClient are fields that the official client sends as null, and the
// description does not allow.
var byClient = map[string][]string{"POST /servers/{id}/actions/create_image": {"type", "description"}}

// TestNullable: what may be null is what the description says, of all requests
// that the simulator knows.
func TestNullable(t *testing.T) {
	file, found := simtest.SpecFile()
	if !found {
		t.Skip("the description of the Hetzner Cloud API is not there: see internal/sim/hetznersim/simtest")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	api, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		t.Fatal(err)
	}
	want := maps.Clone(byClient)
	for _, operation := range hetznersim.Operations() {
		method, path, _ := strings.Cut(operation, " ")
		item := api.Paths.Find(path)
		if item == nil || item.GetOperation(method) == nil || item.GetOperation(method).RequestBody == nil {
			continue
		}
		schema := item.GetOperation(method).RequestBody.Value.Content["application/json"].Schema
		if fields := nullsOf(schema, ""); len(fields) > 0 {
			want[operation] = append(want[operation], fields...)
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(want)) {
		got := slices.Sorted(slices.Values(hetznersim.Nullable[operation]))
		wanted := slices.Compact(slices.Sorted(slices.Values(want[operation])))
		if !slices.Equal(got, wanted) {
			t.Errorf("%s: %v may be null, and %v by the description", operation, got, wanted)
		}
	}
	for operation := range hetznersim.Nullable {
		if want[operation] == nil {
			t.Errorf("%s: nothing may be null by the description", operation)
		}
	}
}

// nullsOf are the fields of a schema that may be null.
func nullsOf(ref *openapi3.SchemaRef, at string) (all []string) {
	if ref == nil {
		return nil
	}
	s := ref.Value
	if at != "" && s.Nullable {
		all = append(all, at)
	}
	for _, more := range slices.Concat(s.AllOf, s.OneOf, s.AnyOf) {
		all = append(all, nullsOf(more, at)...)
	}
	for name, property := range s.Properties {
		all = append(all, nullsOf(property, strings.TrimPrefix(at+"."+name, "."))...)
	}
	return append(all, nullsOf(s.Items, at)...)
}
