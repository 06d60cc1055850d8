package base

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

const file = "envs/dev/cluster.yaml"

func merged(t testing.TB, over, base string) (string, error) {
	t.Helper()
	parts, err := Read(file, map[string][]byte{file: []byte("base: ../base.yaml\n" + over), "envs/base.yaml": []byte(base)})
	if err != nil {
		return "", err
	}
	root, err := Merge(parts)
	if err != nil {
		return "", err
	}
	text, err := yaml.Marshal(root)
	return strings.TrimPrefix(strings.ReplaceAll(string(text), "base: ../base.yaml\n", ""), "\n"), err
}

func TestMerge(t *testing.T) {
	for _, tt := range []struct{ name, base, over, want string }{
		{"a value", "access: public\n", "access: private\n", "access: private\n"},
		{"an empty value", "access: public\n", "access: \"\"\n", "access: \"\"\n"},
		{"another kind", "access: public\n", "access: [a]\n", "access: [a]\n"},
		{"deep", "cni: {hubble: {enabled: true}}\n", "cni: {hubble: {relay: true}}\n", "cni: {hubble: {enabled: true, relay: true}}\n"},
		{"an empty mapping", "cni: {hubble: {enabled: true}}\n", "cni: {hubble: {}}\n", "cni: {hubble: {enabled: true}}\n"},
		{"replaced", "cni: {hubble: {enabled: true}}\n", "cni: !replace {a: b}\n", "cni: {a: b}\n"},
		{"a list", "l: [1, 2]\n", "l: [2, 3]\n", "l: [1, 2, 2, 3]\n"},
		{"a replaced list", "l: [1, 2]\n", "l: !replace []\n", "l: []\n"},
		{"items taken away", "l: [1, 2, 1]\n", "l: [!delete 1, 1]\n", "l: [2, 1]\n"},
		{"an item with a tag in it", "l: [{a: 1, b: 2, c: 3}]\n", "l: [{a: 1, b: !delete }]\n", "l: [{a: 1, c: 3}]\n"},
		{"taken away, and there again", "talos: {kernelModules: [{name: a, parameters: [x]}]}\n", "talos: {kernelModules: [!delete {name: a}, {name: a}]}\n", "talos: {kernelModules: [{name: a}]}\n"},
		{"nothing to take away", "l: [1]\n", "x: !delete\nl: [!delete 2]\ny: {z: !delete , a: b}\n", "l: [1]\ny: {a: b}\n"},
		{"an alias below", "a: &a {x: 1}\ncni: *a\n", "cni: {y: 2}\n", "cni: {x: 1, y: 2}\na: &a {x: 1}\n"},
		{"an alias above", "cni: {y: 2}\n", "a: &a {x: 1}\ncni: *a\n", "cni: {y: 2, x: 1}\na: &a {x: 1}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := merged(t, tt.over, tt.base)
			if err != nil {
				t.Fatal(err)
			}
			var is, want any
			if yaml.Unmarshal([]byte(got), &is) != nil || yaml.Unmarshal([]byte(tt.want), &want) != nil {
				t.Fatal(got)
			}
			if a, b := dump(is), dump(want); a != b {
				t.Errorf("got\n%swant\n%s", a, b)
			}
		})
	}
}

func dump(v any) string {
	text, err := yaml.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// A few lines with aliases do not grow to more than there is room for.
func TestMergeAliases(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 {x: y}\n")
	for _, step := range []string{"01", "12", "23", "34", "45", "56"} {
		b, a := step[:1], step[1:]
		bomb.WriteString("a" + a + ": &a" + a + " {")
		for _, key := range strings.Split("abcdefghij", "") {
			bomb.WriteString(key + ": *a" + b + ", ")
		}
		bomb.WriteString("}\n")
	}
	if _, err := merged(t, bomb.String(), bomb.String()); err == nil || !strings.Contains(err.Error(), "more than 1000 aliases") {
		t.Errorf("got %v", err)
	}
}

// FuzzMerge: whatever is laid over whatever, the result holds no tag, or there is an error
// with a place.
func FuzzMerge(f *testing.F) {
	f.Add("access: !delete\n", "access: public\n")
	f.Add("l: !replace [1]\n", "l: [{name: a}]\n")
	f.Add("nodes: {workers: {nodepools: [!delete {name: a}, {name: b, count: 1}]}}\n", "nodes: {workers: {nodepools: [{name: a}, {name: b}]}}\n")
	f.Add("a: &a {b: c}\nd: *a\n", "d: {b: &x e, f: *x}\n")
	f.Fuzz(func(t *testing.T, over, base string) {
		text, err := merged(t, over, base)
		if err != nil {
			if !strings.Contains(err.Error(), "envs/") {
				t.Errorf("no file in %v", err)
			}
			return
		}
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err == nil && len(doc.Content) > 0 && directs(doc.Content[0]) {
			t.Errorf("a tag is left in\n%s", text)
		}
	})
}
