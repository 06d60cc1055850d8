package residue

import (
	"testing"

	"go.yaml.in/yaml/v4"
)

// TestSame: values are the same if they mean the same, however they are written.
func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true},
		{"a", "'a'", true},
		{"a", "b", false},
		{"16", "0x10", true},
		{"16", "'16'", false},
		{"true", "'true'", false},
		{"null", "~", true},
		{"null", "''", false},
		{"[a, b]", "- a\n- b", true},
		{"[a, b]", "[b, a]", false},
		{"[a]", "[a, a]", false},
		{"[]", "{}", false},
		{"{a: 1, b: 2}", "b: 2\na: 1", true},
		{"{a: 1, b: 2}", "{a: 1, c: 2}", false},
		{"{a: 1}", "{a: 1, b: 2}", false},
		{"{a: {b: [1, {c: 2, d: 3}]}}", "{a: {b: [1, {d: 3, c: 0b10}]}}", true},
		{"{a: {b: [1, {c: 2, d: 3}]}}", "{a: {b: [1, {d: 3, c: 3}]}}", false},
		{"{a: &x [1], b: *x}", "{b: [1], a: [1]}", true},
		{"{a: &x [1], b: *x}", "{b: [2], a: [1]}", false},
		{"# one\na: 1 # two", "a: 1", true},
	} {
		var a, b yaml.Node
		if err := yaml.Unmarshal([]byte(c.a), &a); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(c.b), &b); err != nil {
			t.Fatal(err)
		}
		x, y := a.Content[0], b.Content[0]
		if got, back := Same(x, y), Same(y, x); got != c.want || back != c.want {
			t.Errorf("%q and %q: %t and %t, want %t", c.a, c.b, got, back, c.want)
		}
		if !Same(x, x) || Same(x, nil) || Same(nil, y) {
			t.Errorf("%q is not the same as itself, or is nothing", c.a)
		}
	}
	if !Same(nil, nil) {
		t.Error("nothing is not the same as nothing")
	}
}
