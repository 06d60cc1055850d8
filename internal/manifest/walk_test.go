package manifest

import (
	"reflect"
	"testing"
)

func TestWalk(t *testing.T) {
	o := Object{"a": map[string]any{"b": map[string]any{"c": "text"}}, "list": []any{map[string]any{"x": "1"}, "text", 3}}
	if got := Text(Section(o, "a", "b")["c"]); got != "text" {
		t.Errorf("got %q", got)
	}
	if got := Section(o, "a", "none", "b"); got != nil || Text(got["c"]) != "" {
		t.Errorf("got %v", got)
	}
	if got := Maps(o["list"]); !reflect.DeepEqual(got, []map[string]any{{"x": "1"}, nil, nil}) {
		t.Errorf("got %v", got)
	}
	if got := Texts(o["list"]); !reflect.DeepEqual(got, []string{"", "text", ""}) {
		t.Errorf("got %q", got)
	}
}
