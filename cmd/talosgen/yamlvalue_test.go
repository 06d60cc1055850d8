package main

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/talosgen/talosgen/apply/plan"
)

func TestYAMLOf(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`{"b": 1, "a": [true, null, "true", "null", "1", "1e3", "~", "", "0x1f", "2026-11-26", "no"]}`,
			"a:\n  - true\n  - null\n  - \"true\"\n  - \"null\"\n  - \"1\"\n  - \"1e3\"\n  - \"~\"\n  - \"\"\n  - \"0x1f\"\n  - \"2026-11-26\"\n  - \"no\"\nb: 1\n"},
		{`{"none": [], "nothing": {}, "text": "two\nlines\n", "sign": "- a: b # c", "big": 9007199254740993, "less": 0.5}`,
			"big: 9007199254740993\nless: 0.5\nnone: []\nnothing: {}\nsign: '- a: b # c'\ntext: |\n  two\n  lines\n"},
		{`[]`, "[]\n"},
		{`null`, "null\n"},
	} {
		got, err := yamlOf([]byte(c.json))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\ngot\n%s\nwant\n%s", c.json, err, got, c.want)
		}
	}
}

// Any value that JSON can hold is the same one in YAML, for a parser that reads YAML
// and nothing else.
func TestYAMLOfAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for range 3000 {
		value := anyValue(r, 3)
		text, err := plan.Encode(value)
		if err != nil {
			t.Fatal(err)
		}
		inYAML, err := yamlOf(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var back any
		if err := yaml.Unmarshal(inYAML, &back); err != nil {
			t.Fatalf("%s\n%s\n%v", text, inYAML, err)
		}
		again, err := json.Marshal(back)
		if err != nil {
			t.Fatalf("%s\n%s\n%v", text, inYAML, err)
		}
		var want, got any
		if json.Unmarshal(text, &want) != nil || json.Unmarshal(again, &got) != nil || !reflect.DeepEqual(want, got) {
			t.Fatalf("%s\n%s\n%s", text, inYAML, again)
		}
	}
}

// anyValue is a random value of JSON, so deep at most.
// No key is <<, which the library writes without quotes, and reads as a merge.
func anyValue(r *rand.Rand, depth int) any {
	pieces := []string{"a", "-", ": ", "#", " ", "\n", "\t", "'", `"`, "\\", "true", "1", "1e3", "{", "[", "&x", "*x", "!", "|", ">", "%", "@", "?", "é", "\u2028", "\u0085", "\x01", "😀", "~", "=", "<"}
	text := func() string {
		var b strings.Builder
		for range r.IntN(5) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	switch n := r.IntN(8); {
	case depth > 0 && n == 0:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = anyValue(r, depth-1)
		}
		return list
	case depth > 0 && n < 3:
		object := map[string]any{}
		for range r.IntN(4) {
			if key := text(); key != "<<" {
				object[key] = anyValue(r, depth-1)
			}
		}
		return object
	case n == 3:
		return r.IntN(2) == 0
	case n == 4:
		return nil
	case n == 5:
		return r.Int64N(1<<53) - 1<<52
	}
	return text()
}
