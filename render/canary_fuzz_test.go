package render_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// FuzzCanary renders whatever text as a patch, with secret variables that it
// may refer to, or as the content of an encrypted patch. Neither errors nor
// warnings, explanations or readable lines hold a secret.
func FuzzCanary(f *testing.F) {
	for _, text := range broken {
		f.Add(text, false)
		f.Add(text, true)
	}
	for _, text := range markedPatches {
		f.Add(text, true)
	}
	r := markedRepo(f, "v1.13").
		patch("common/x.yaml", "machine:\n  env:\n    X: ${TOKEN}\n").
		patch("common/y.sops.yaml", "machine:\n    env:\n        Y: qzxkanarivogl95\n")
	repo := r.open(operatorKeys()[0].private)
	plain, err := repo.PatchTrial("canary", "envs/canary/patches/common/x.yaml", false)
	if err != nil {
		f.Fatal(err)
	}
	encrypted, err := repo.PatchTrial("canary", "envs/canary/patches/common/y.sops.yaml", true)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, isEncrypted bool) {
		try := plain
		if isEncrypted {
			try, text = encrypted, plainly.Replace(text)
			if !onlyValuesAreSecret(text) {
				return
			}
		} else if findMarker(text) != "" || findShort(text) != "" {
			return
		}
		res, explained, err := try([]byte(text))
		if err != nil {
			mustHideSecrets(t, "the error", err.Error())
		}
		for _, w := range res.Warnings {
			mustHideSecrets(t, "a warning", w.Error())
		}
		for _, x := range explained {
			mustHideSecrets(t, "explain", x.Name()+" "+x.Value)
			for _, o := range x.Origins {
				mustHideSecrets(t, "explain", o.Layer+" "+o.File+" "+o.Value)
			}
		}
		for _, n := range res.Nodes {
			mustHideSecrets(t, n.File, res.Text(n.File))
		}
	})
}

func findShort(text string) string {
	for _, s := range shortSecrets {
		if strings.Contains(text, s) {
			return s
		}
	}
	return ""
}

// onlyValuesAreSecret tells whether a text is one that an encrypted file can
// hold: SOPS leaves keys readable, and what is no value (tags, anchors) too.
func onlyValuesAreSecret(text string) bool {
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil || !valuesOnly(&doc) {
			return false
		}
	}
}

func valuesOnly(n *yaml.Node) bool {
	hides := func(text string) bool { return findMarker(text) == "" && findShort(text) == "" }
	if !hides(n.Tag) || !hides(n.Anchor) || n.Kind == yaml.AliasNode {
		return false
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && (c.Kind != yaml.ScalarNode || !hides(c.Value)) || !valuesOnly(c) {
			return false
		}
	}
	return true
}
