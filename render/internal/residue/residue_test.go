package residue

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/machine"
)

// document is the main one of a configuration.
func document(t *testing.T, text string) []Document {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return []Document{{machine.MainID, doc.Content[0]}}
}

// nodes are two control planes and two workers; each has to have what is given for it.
func nodes(t *testing.T, have string, want ...string) []Node {
	t.Helper()
	var all []Node
	for i, n := range []struct{ name, role, pool string }{
		{"a", "controlplane", "control-plane"}, {"b", "controlplane", "control-plane"}, {"c", "worker", "one"}, {"d", "worker", "two"},
	} {
		all = append(all, Node{Name: n.name, Role: n.role, Pool: n.pool, Have: document(t, have), Want: document(t, want[i])})
	}
	return all
}

// TestFactor: a value goes to the highest layer whose nodes all have it.
func TestFactor(t *testing.T) {
	for name, c := range map[string]struct {
		have string
		want []string
		out  string
	}{
		"nothing":   {"m: {x: 1}", []string{"m: {x: 1}", "m: {x: 0x1}", "m: {x: 1}", "m: {x: 1}"}, ""},
		"all":       {"m: {}", []string{"m: {x: 1}", "m: {x: 1}", "m: {x: 1}", "m: {x: 1}"}, "common: m: {x: 1}"},
		"role":      {"m: {y: 2}", []string{"m: {x: 1, y: 2}", "m: {y: 2, x: 1}", "m: {y: 2}", "m: {y: 2}"}, "controlplane: m: {x: 1}"},
		"pool":      {"m: {y: 2}", []string{"m: {y: 2}", "m: {y: 2}", "m: {y: 3}", "m: {y: 2}"}, "pools/one: m: {y: 3}"},
		"node":      {"m: {y: 2}", []string{"m: {y: 2}", "m: {y: 3}", "m: {y: 2}", "m: {y: 2}"}, "nodes/b: m: {y: 3}"},
		"removed":   {"m: {y: 2, z: 1}", []string{"m: {z: 1}", "m: {z: 1}", "m: {z: 1}", "m: {z: 1}"}, "common: m: {y: !delete ''}"},
		"below":     {"m: {z: 1, x: {l: 1, k: 2}}", []string{"m: {z: 1, x: {k: 2}}", "m: {z: 1, x: {k: 2}}", "m: {z: 1}", "m: {z: 1}"}, "controlplane: m: {x: {l: !delete ''}}\nworker: m: {x: !delete ''}"},
		"list":      {"m: {l: [1]}", []string{"m: {l: [2]}", "m: {l: [2]}", "m: {l: [1]}", "m: {l: [1]}"}, "controlplane: m: {l: !replace [2]}"},
		"new list":  {"m: {y: 2}", []string{"m: {y: 2, l: [2]}", "m: {y: 2, l: [2]}", "m: {y: 2, l: [2]}", "m: {y: 2, l: [2]}"}, "common: m: {l: [2]}"},
		"empty":     {"m: {y: {a: 1}}", []string{"m: {y: {}}", "m: {y: {}}", "m: {y: {a: 1}}", "m: {y: {a: 1}}"}, "controlplane: m: {y: !replace {}}"},
		"text":      {"m: {y: 1}", []string{`m: {y: "1"}`, `m: {y: "1"}`, `m: {y: "1"}`, `m: {y: "1"}`}, `common: m: {y: "1"}`},
		"different": {"m: {y: 1}", []string{"m: {y: 1}", "m: {y: 1}", "m: {y: 2}", "m: {y: 3}"}, "pools/one: m: {y: 2}\npools/two: m: {y: 3}"},
		// A pool has one machine so far: what only that one can have is not the pool's.
		"own":        {"machine: {y: 2}", []string{"machine: {y: 2}", "machine: {y: 2}", "machine: {y: 3, network: {mtu: 9, hostname: c, interfaces: [1]}}", "machine: {y: 2}"}, "nodes/c: machine: {network: {hostname: c, interfaces: [1]}}\npools/one: machine: {y: 3, network: {mtu: 9}}"},
		"shared own": {"machine: {y: 2}", []string{"machine: {y: 2, network: {interfaces: [1]}}", "machine: {y: 2, network: {interfaces: [1]}}", "machine: {y: 2}", "machine: {y: 2}"}, "controlplane: machine: {network: {interfaces: [1]}}"},
	} {
		t.Run(name, func(t *testing.T) {
			all := nodes(t, c.have, c.want...)
			if got := written(t, Factor(all, Hints{})); got != flat(t, c.out) {
				t.Errorf("got\n%s\nwant\n%s", got, c.out)
			}
		})
	}
}

// written are the patches of all layers, each on a line.
func written(t *testing.T, layers map[Layer][]Change) string {
	t.Helper()
	var lines []string
	for l, changes := range layers {
		text, err := Write(changes, "")
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, flat(t, string(l)+": "+oneLine(t, text)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// oneLine writes YAML on one line.
func oneLine(t *testing.T, text []byte) string {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for _, n := range doc.Content[0].Content {
		n.Style |= yaml.FlowStyle
	}
	out, err := yaml.Marshal(doc.Content[0])
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// flat drops what spaces and braces say nothing about.
func flat(t *testing.T, text string) string {
	t.Helper()
	return strings.NewReplacer(" ", "", "\t", "").Replace(text)
}

// TestLearn: a value that a patch does not bring about becomes the node's own first, and
// then the mappings around it are written whole, until there is none left.
func TestLearn(t *testing.T) {
	all := nodes(t, "m: {x: {y: 1}}", "m: {x: {y: 1}}", "m: {x: {y: 2}}", "m: {x: {y: 1}}", "m: {x: {y: 1}}")
	var steps []string
	hints, learned := Hints{}, true
	for range 9 {
		if hints, learned = hints.Learn(all); !learned {
			break
		}
		steps = append(steps, written(t, Factor(all, hints)))
	}
	want := []string{"nodes/b: m: {x: {y: 2}}", "nodes/b: m: {x: !replace {y: 2}}", "nodes/b: m: !replace {x: {y: 2}}"}
	for i := range want {
		want[i] = flat(t, want[i])
	}
	if learned || !slices.Equal(steps, want) {
		t.Errorf("got %s", fmt.Sprint(steps))
	}
}

// TestDocuments: documents come and go as a whole.
func TestDocuments(t *testing.T) {
	id := machine.ID{APIVersion: "v1alpha1", Kind: "LinkConfig", Name: "net0"}
	root := document(t, "apiVersion: v1alpha1\nkind: LinkConfig\nname: net0\nmtu: 1400\n")[0].Root
	with, without := []Document{{id, root}}, []Document{}
	for _, c := range []struct {
		have, want []Document
		text       string
	}{
		{without, with, "apiVersion: v1alpha1\nkind: LinkConfig\nname: net0\nmtu: 1400\n"},
		{with, without, "--- !delete\napiVersion: v1alpha1\nkind: LinkConfig\nname: net0\n"},
	} {
		layers := Factor([]Node{{Name: "a", Role: "worker", Pool: "p", Have: c.have, Want: c.want}}, Hints{})
		text, err := Write(layers[Common], "")
		if err != nil || string(text) != c.text {
			t.Errorf("got\n%s%v\nwant\n%s", text, err, c.text)
		}
	}
}
