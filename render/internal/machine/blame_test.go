package machine

import (
	"fmt"
	"strings"
	"testing"
)

// What Talos' validation says, in its words, and the places that it is about.
func TestBlame(t *testing.T) {
	load := func(name, text string) *Patch {
		p, err := LoadPatch(Source{File: name, Data: []byte(text)}, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	patches := []*Patch{
		load("labels.yaml", "machine:\n  nodeLabels:\n    example.com/tier: a b/c\n    \"not a label\": x\n    other: same value\n  nodeTaints:\n    a: x:NoSuchEffect\n"),
		load("cni.yaml", "cluster:\n  network:\n    cni:\n      name: custom\n      urls: [https://one.example.com, https://two.example.com]\n  apiServer:\n    extraArgs: {a: b1, c: b2, d: b3, e: b4}\n"),
		load("over.yaml", "machine:\n  nodeAnnotations:\n    note: same value\n  nodeLabels:\n    example.com/tier: a b/d\n"),
	}
	traced, err := Trace(testBase(t, "v1.13", ControlPlane), patches)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ text, want string }{
		{`invalid machine node labels: label value "a b/d" is invalid`, "over.yaml:5:23"},
		{`label value "a b/c": it was overridden`, ""},
		{`invalid machine node labels: name "not a label" is invalid`, "labels.yaml:4:20"},
		{`name cannot be empty: "example.com"`, "over.yaml:5:23"},
		{`invalid taint effect: "NoSuchEffect"`, "labels.yaml:7:8"},
		{`"urls" field should be empty for "custom" CNI`, "cni.yaml:4:13"},
		{`invalid URL (.cluster.network.cni.urls[1])`, "cni.yaml:5:39"},
		{`[cluster.network.cni.urls] two of them`, "cni.yaml:5:14 cni.yaml:5:39"},
		{`"same value" is in two places`, "labels.yaml:5:12 over.yaml:3:11"},
		{`machine.nodeLabels."not a label" is wrong`, "labels.yaml:4:20"},
		{`cluster.apiServer.extraArgs has too many`, ""},
		{`v1alpha1.Config: an empty "" and a "word" that is nowhere`, ""},
		{`machine instructions are required`, ""},
	} {
		var places []string
		for _, p := range Blame(tt.text, traced) {
			places = append(places, fmt.Sprint(p))
		}
		if got := strings.Join(places, " "); got != tt.want {
			t.Errorf("%s:\ngot  %q\nwant %q", tt.text, got, tt.want)
		}
	}
}
