package nodefile

import (
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// TestMark: all nodes of a tree know their file, aliases too, and say what they said.
func TestMark(t *testing.T) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("a: &a {b: [c]}\nd: *a\n"), &doc); err != nil {
		t.Fatal(err)
	}
	before, err := yaml.Marshal(&doc)
	if err != nil {
		t.Fatal(err)
	}
	root := doc.Content[0]
	Mark(root, "base.yaml")
	for _, n := range []*yaml.Node{root, root.Content[0], root.Content[1].Content[1].Content[0], root.Content[3]} {
		if got := Of(n, "other.yaml"); got != "base.yaml" {
			t.Errorf("%q is of %s", n.Value, got)
		}
	}
	copied := *root.Content[1]
	if got := Pos(&copied, ""); got != (diag.Pos{File: "base.yaml", Line: 1, Column: 4}) {
		t.Errorf("a copy is at %v", got)
	}
	after, err := yaml.Marshal(&doc)
	if err != nil || string(after) != string(before) {
		t.Errorf("%v: %s became %s", err, before, after)
	}
	if got := Of(&yaml.Node{Kind: yaml.ScalarNode}, "other.yaml"); got != "other.yaml" {
		t.Errorf("a node that was told nothing is of %s", got)
	}
	if got := Of(Set(&yaml.Node{}, diag.Pos{File: "x.yaml"}), ""); got != "x.yaml" {
		t.Errorf("a node that was told is of %s", got)
	}
}
