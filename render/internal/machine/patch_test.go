package machine

import (
	"errors"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

// TestLoadPatchRefuses pins what is said of bad patches, and where.
func TestLoadPatchRefuses(t *testing.T) {
	const worker = "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n"
	for _, c := range []struct {
		name, patch string
		want        string // position and message
		hint        string // a part of the hint
	}{
		{"replace of a value", "machine:\n  install:\n    disk: !replace /dev/vda\n", "p.yaml:3:11: !replace on a single value", "always replaces"},
		{"replace of null", "machine:\n  install: !replace\n", "p.yaml:2:12: !replace on a single value", "lists and maps"},
		{"delete with a value", "machine:\n  install:\n    disk: !delete /dev/vda\n", "p.yaml:3:11: !delete of what?", "key: !delete"},
		{"delete of a map with content", "machine:\n  nodeLabels: !delete {a: b}\n", "p.yaml:2:15: !delete of what?", "key: !delete"},
		{"delete of a list with content", "machine:\n  certSANs: !delete [a]\n", "p.yaml:2:13: !delete of what?", "- !delete x"},
		{"delete without an item", "machine:\n  certSANs: [!delete , b]\n", "p.yaml:2:14: !delete of what?", "- !delete x"},
		{"delete of the main document", "--- !delete\nmachine: {}\n", "p.yaml:1:5: !delete of the whole machine configuration", "with a kind"},
		{"replace of the main document", "--- !replace\ncluster: {}\n", "p.yaml:1:5: !replace of the whole machine configuration", "with a kind"},
		{"delete of a name", worker[:len(worker)-6] + " !delete\nmtu: 1400\n", "p.yaml:3:7: the document is known by its name", "--- !delete"},
		{"unknown tag", "machine:\n  certSANs: !append [a]\n", "p.yaml:2:13: unknown tag !append", "!replace and !delete"},
		{"tag without a space", "machine: {nodeLabels: {a: !delete}}\n", "p.yaml:1:34: not valid YAML: found character '}' that is not allowed in a YAML tag, while parsing a tag", "put a space"},
		{"alias of a directive", "machine:\n  nodeLabels: &l {a: !delete }\n  nodeAnnotations: *l\n", "p.yaml:3:20: an alias of something with !replace or !delete", "write it out"},
		{"$patch: replace", "machine:\n  certSANs:\n    - $patch: replace\n", "p.yaml:3:7: Talos knows only $patch: delete", "!replace"},
		{"both languages", "machine:\n  nodeLabels: {a: !delete , b: {$patch: delete}}\n", "p.yaml:1:1: $patch: delete beside !delete or !replace in one document", "!delete in place of"},
		{"$patch: delete inside an item", "machine:\n  network:\n    interfaces:\n      - interface: eth0\n        mtu: {$patch: delete}\n", "p.yaml:1:1: cannot delete an inner key in 'machine.network.interfaces.[0].mtu'", "!delete"},
		{"unknown key beside $patch: delete", "# comment\n\nmachine:\n  nodeLabels: {a: {$patch: delete}}\n  certSAN: [a]\n", `p.yaml:5:3: unknown key "machine.certSAN" in v1alpha1`, `"certSANs"`},
		{"JSON6902", "# comment\n- op: add\n  path: /machine\n  value: x\n", "p.yaml:2:1: a JSON6902 patch", "strategic merge patch"},
		{"JSON6902 in JSON", `[{"op": "remove", "path": "/machine"}]`, "p.yaml:1:1: a JSON6902 patch", "!delete"},
		{"list", "- a\n", "p.yaml:1:1: a patch is a mapping, this is a list", "from machine:"},
		{"single value", "hello\n", "p.yaml:1:1: a patch is a mapping, this is a single value", ""},
		{"second document", worker + "---\n" + worker, "p.yaml:5:1: the file has a second document LinkConfig/eth0", "the first is at line 1"},
		{"second main document", "machine: {}\n---\ncluster: {}\n", "p.yaml:3:1: the file has a second document v1alpha1", ""},
		{"unknown key", "machine:\n  kubelet:\n    imagee: x\n", `p.yaml:3:5: unknown key "machine.kubelet.imagee" in v1alpha1`, `"image"`},
		{"unknown keys in two items", "machine:\n  kubelet:\n    extraMounts:\n      - {source: a}\n      - {sourc: b}\n      - {source: c}\n      - {sourc: d}\n", `p.yaml:5:10: unknown key "machine.kubelet.extraMounts[1].sourc" in v1alpha1`, `"source"`},
		{"unknown key behind an alias", "machine:\n  registries:\n    mirrors:\n      a: &m {endpoint: [x]}\n      b: *m\n", `p.yaml:4:14: unknown key "machine.registries.mirrors.a.endpoint" in v1alpha1`, `"endpoints"`},
		{"a merge key", "machine:\n  sysctls: &s {a.b: \"1\"}\n  sysfs:\n    <<: *s\n    c.d: \"2\"\n", `p.yaml:4:5: a merge key (<<) in machine.sysfs, where Talos takes none: its keys are free`, `use an alias for the whole map`},
		{"unknown key in a list", "machine:\n  network:\n    interfaces:\n      - interface: eth0\n      - interface: eth1\n        mut: 1\n", `p.yaml:6:9: unknown key "machine.network.interfaces[1].mut" in v1alpha1`, `"mtu"`},
		{"unknown key, deep in a list", "machine:\n  network:\n    interfaces:\n      - interface: eth0\n        routes:\n          - network: a\n            gatewy: b\n", `p.yaml:7:13: unknown key "machine.network.interfaces[0].routes[0].gatewy" in v1alpha1`, `"gateway"`},
		{"unknown key at the top", "machin: {}\n", `p.yaml:1:1: unknown key "machin" in v1alpha1`, `"machine"`},
		{"forgotten section", "extraMounts: []\n", `p.yaml:1:1: unknown key "extraMounts" in v1alpha1`, "machine: or cluster:"},
		{"unknown key of a document", worker + "mtuu: 3\n", `p.yaml:4:1: unknown key "mtuu" in LinkConfig/eth0`, `"mtu"`},
		{"wrong type", "machine:\n  certSANs:\n    a: b\n", "p.yaml:3:5: a mapping where a list is expected", ""},
		{"text where a number is", worker + "mtu: big\n", "p.yaml:4:6: a string where a number is expected", ""},
		{"text where a boolean is", "machine:\n  install:\n    wipe: maybe\n", "p.yaml:3:11: a string where true or false is expected", ""},
		{"no kind", "apiVersion: v1alpha1\nmtu: 1\n", "p.yaml:1:1: unknown key \"apiVersion\" in v1alpha1", ""},
		{"no version", "kind: LinkConfig\nname: x\n", "p.yaml:1:1: the document has no apiVersion", "both apiVersion and kind"},
		{"directive in an unknown kind", "apiVersion: v1beta9\nkind: NewConfig\nx: !delete\n", "p.yaml:1:1: an instruction to delete or replace in a document of kind NewConfig", ""},
		{"$patch: delete of an unknown kind", "apiVersion: v1beta9\nkind: NewConfig\n$patch: delete\n", "p.yaml:1:1: an instruction to delete or replace in a document of kind NewConfig", ""},
		{"misspelt kind", "apiVersion: v1alpha1\nkind: NetworkRulConfig\nname: x\n", "p.yaml:2:7: there is no kind NetworkRulConfig", `did you mean "NetworkRuleConfig"?`},
		{"kind in the plural", "kind: KubeNodeConfigs\napiVersion: v1alpha1\n", "p.yaml:1:7: there is no kind KubeNodeConfigs", `did you mean "KubeNodeConfig"?`},
		{"kind in small letters", "apiVersion: v1alpha1\nkind: linkconfig\nname: x\n", "p.yaml:2:7: there is no kind linkconfig", `did you mean "LinkConfig"?`},
		{"null item", "machine:\n  network:\n    interfaces:\n      -\n", `p.yaml:4:8: machine.network.interfaces[0] is null`, "leave it out"},
		{"null key", "machine:\n  sysctls:\n    null: \"1\"\n", "p.yaml:3:5: a key that is null", "in quotes"},
		{"alias of itself", "machine:\n  kubelet:\n    extraConfig: &a\n      x: [*a, *a]\n", "p.yaml:1:1: with its aliases written out", "all of its anchor"},
		{"maps in maps", "apiVersion: v9\nkind: X\nx: " + strings.Repeat("{a: ", 5000) + "b" + strings.Repeat("}", 5000) + "\n", "p.yaml:3:400: nested deeper than 100 levels", "indentation"},
		{"aliases of aliases", "apiVersion: v9\nkind: X\na: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]\n", "p.yaml:1:1: with its aliases written out", ""},
		{"broken YAML", "machine:\n\tcertSANs: []\n", "p.yaml:2:1: not valid YAML", ""},
		{"undefined variable", "machine: {certSANs: ['${NOPE}']}\n", `p.yaml:1:23: variable "NOPE" is not defined`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := LoadPatch(Source{File: "p.yaml", Data: []byte(c.patch)}, LoadOptions{})
			if err == nil && p != nil {
				t.Fatal("no error")
			}
			var problem *diag.Problem
			if !errors.As(err, &problem) {
				t.Fatalf("%T is no problem: %v", err, err)
			}
			if first, _, _ := strings.Cut(err.Error(), "\n"); !strings.HasPrefix(first, c.want) {
				t.Errorf("it says\n%s\nnot\n%s", err, c.want)
			}
			if !strings.Contains(problem.Hint, c.hint) {
				t.Errorf("the hint is %q, without %q", problem.Hint, c.hint)
			}
			if diag.CodeOf(err) != diag.Input {
				t.Errorf("the exit code is %d", diag.CodeOf(err))
			}
		})
	}
}

func TestLoadPatchReportsAllProblems(t *testing.T) {
	_, err := loadText("p.yaml", `
		machine:
		  certSAN: [a]
		  kubelet:
		    imag: x
		---
		apiVersion: v1alpha1
		kind: LinkConfig
		name: eth0
		mtuu: 1
		---
		apiVersion: v1alpha1
		kind: HostnameConfig
		hostname: !replace x`, LoadOptions{})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"p.yaml:2:3", "p.yaml:4:5", "p.yaml:9:1", "p.yaml:13:11"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no problem at %s in\n%v", want, err)
		}
	}
}

func TestEmptyPatchWarns(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "{}\n", "---\n---\n# x\n", "null\n"} {
		p, err := LoadPatch(Source{File: "p.yaml", Data: []byte(text)}, LoadOptions{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if len(p.Warnings) != 1 || p.Warnings[0].Message != "the patch is empty" {
			t.Errorf("%q: warnings are %v", text, p.Warnings)
		}
	}
}

const unknownKind = `
	# a comment
	apiVersion: v1beta9
	kind: NewConfig # another
	name: n
	text: "0x10"
	flow: {b: [1, 2], a: "yes"}
	block: |
	  line
	   indented
	empty: {}
	number: 010`

func TestUnknownKindPasses(t *testing.T) {
	base := testBase(t, "v1.13", Worker)
	cfg, warnings, err := applyTexts(base, unknownKind)
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 1 || warnings[0].Pos.Line != 2 || !strings.Contains(warnings[0].Message, "kind NewConfig (v1beta9) is not known") {
		t.Errorf("warnings are %v", warnings)
	}
	id := ID{"v1beta9", "NewConfig", "n"}
	text := textOf(t, &Config{docs: []*Document{cfg.Document(id)}})
	if strings.Contains(text, "comment") || strings.Contains(text, "another") {
		t.Errorf("comments are kept, which may be secret:\n%s", text)
	}
	compareDocuments(t, "", []byte(unindent(unknownKind)), []byte(text))
	leaves, err := cfg.Document(id).Leaves()
	if err != nil || len(leaves) != 10 {
		t.Errorf("%d leaves, %v", len(leaves), err)
	}
	if again := textOf(t, &Config{docs: []*Document{cfg.Document(id)}}); again != text {
		t.Errorf("the text changed with the leaves:\n%s\n%s", text, again)
	}
	if _, problems, err := cfg.Validate(Cloud, true); err != nil || len(problems) > 0 {
		t.Errorf("validation: %v, %v", problems, err)
	}
}

func TestUnknownKindIsNotMerged(t *testing.T) {
	_, _, err := applyTexts(testBase(t, "v1.13", Worker), unknownKind, "apiVersion: v1beta9\nkind: NewConfig\nname: n\nmore: 1\n")
	if err == nil || !strings.Contains(err.Error(), "2.yaml:1:1: NewConfig/n is in several patches") {
		t.Errorf("error is %v", err)
	}
	_, _, err = applyTexts(testBase(t, "v1.13", Worker), unknownKind, "apiVersion: v1beta9\nkind: NewConfig\nname: other\nmore: 1\n")
	if err != nil {
		t.Error(err)
	}
}
