package jsonshape

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

type plain struct {
	Name    string            `json:"name"`
	Count   int               `json:"count,omitempty"`
	Ratio   float64           `json:"ratio"`
	Tags    []string          `json:"tags"`
	Labels  map[string]string `json:"labels,omitempty"`
	At      time.Time         `json:"at"`
	Next    *plain            `json:"next,omitempty"`
	Maybe   *int              `json:"maybe"`
	Any     any               `json:"any"`
	Shaped  shaped            `json:"shaped"`
	Ignored string            `json:"-"`
	hidden  string
}

type shaped struct{ secret int }

func (shaped) JSONShape() any               { return []bool{} }
func (shaped) MarshalJSON() ([]byte, error) { return []byte("[true]"), nil }

type outer struct {
	plain
	*Inner
	Count string `json:"count"` // hides that of plain
}

// Inner may be missing.
type Inner struct {
	Extra string `json:"extra"`
}

func valid(t *testing.T, of any, text string) error {
	t.Helper()
	schema, err := Of("what", of)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:schema", doc); err != nil {
		t.Fatalf("%v\n%s", err, schema)
	}
	s, err := c.Compile("mem:schema")
	if err != nil {
		t.Fatalf("%v\n%s", err, schema)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// TestOf: what Go writes of a value is valid by the schema of its type, and what has
// another type, or lacks what is always there, is not.
func TestOf(t *testing.T) {
	one := 1
	full := plain{
		Name: "a", Count: 2, Tags: []string{"b"}, Labels: map[string]string{"c": "d"}, Next: &plain{Tags: []string{}}, Maybe: &one, Any: 3, hidden: "e",
		Shaped: shaped{1},
	}
	for _, v := range []any{plain{Tags: []string{}}, full, outer{plain: full, Count: "f"}, outer{plain: full, Inner: &Inner{}}, []plain{full}, map[string][]plain{"x": {full}}, struct{}{}, true} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(t, v, string(text)); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
	}
	good := `{"name": "a", "ratio": 1.5, "tags": [], "at": "2026-11-26T00:00:00Z", "maybe": null, "any": {}, "shaped": [true], "new": 1}`
	if err := valid(t, plain{}, good); err != nil {
		t.Error(err)
	}
	for _, change := range [][2]string{
		{`"name": "a", `, ``}, {`"name": "a"`, `"name": 1`}, {`"tags": []`, `"tags": null`}, {`"tags": []`, `"tags": [1]`}, {`"maybe": null`, `"maybe": "1"`},
		{`"shaped": [true]`, `"shaped": true`}, {`"new": 1`, `"count": "1"`}, {`"new": 1`, `"next": {}`}, {`"new": 1`, `"labels": {"a": 1}`},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%q is not there", change[0])
		}
		if valid(t, plain{}, bad) == nil {
			t.Errorf("%s is valid", bad)
		}
	}
}
