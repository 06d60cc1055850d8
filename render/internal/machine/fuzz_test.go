package machine

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/merge"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// addCorpus adds the layers of the oracle's cases and of other tests.
func addCorpus(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range archive.Files {
			f.Add(part.Data)
		}
	}
	for _, text := range sharedTexts {
		f.Add([]byte(text))
	}
}

// FuzzDecodeLikeTalos: talosgen decodes parsed documents itself, to keep their
// places. It accepts what Talos' own loader does, and makes the same of it,
// apart from what it treats differently on purpose.
func FuzzDecodeLikeTalos(f *testing.F) {
	addCorpus(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := parseDocuments("p.yaml", data)
		if err != nil || slices.ContainsFunc(docs, treatedOtherwise) || hasTwins(docs) || bytes.Contains(data, []byte("$")) {
			return
		}
		theirs, theirErr := configloader.NewFromBytes(data, configloader.WithAllowPatchDelete(), configloader.WithNoValidation())
		if errors.Is(theirErr, configloader.ErrNoConfig) {
			return // a warning of talosgen's
		}
		ours, ourErr := LoadPatch(Source{File: "p.yaml", Data: data}, LoadOptions{})
		if (ourErr == nil) != (theirErr == nil) {
			t.Fatalf("Talos: %v\ntalosgen: %v", theirErr, ourErr)
		}
		if ourErr != nil {
			checkProblems(t, ourErr)
			return
		}
		var typed []config.Document
		for _, pd := range ours.docs {
			typed = append(typed, pd.typed)
		}
		if len(typed) != len(theirs.Documents()) {
			t.Fatalf("Talos reads %d documents, talosgen %d", len(theirs.Documents()), len(typed))
		}
		for i, d := range theirs.Documents() {
			if want, have := marshal(t, d), marshal(t, typed[i]); want != have {
				t.Fatalf("Talos reads\n%s\ntalosgen\n%s", want, have)
			}
		}
	})
}

func marshal(t *testing.T, d config.Document) string {
	t.Helper()
	text, err := yaml.Marshal(d)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// checkProblems: what is said of bad input is a problem in the file.
func checkProblems(t *testing.T, err error) {
	t.Helper()
	var problem *diag.Problem
	if !errors.As(err, &problem) || problem.Pos.File != "p.yaml" || problem.Message == "" {
		t.Fatalf("%T without a place: %v", err, err)
	}
}

// treatedOtherwise reports whether talosgen treats a document differently on
// purpose: a kind that is not known is passed on, tags are directives or
// refused; and Talos finds words that decide on the version among the values
// too, and asks for a section in the main document.
func treatedOtherwise(root *yaml.Node) bool {
	if root.Kind != yaml.MappingNode {
		return false
	}
	id := idOf(root)
	_, err := newTyped(id)
	sections := []string{"machine", "cluster", "debug", "persist"}
	hasSection := false
	for i, n := range root.Content {
		isValue := i%2 == 1
		section := slices.Contains(sections, n.Value)
		if isValue && (section || n.Value == "kind" || n.Value == "apiVersion") {
			return true
		}
		if section && !id.IsMain() {
			return true
		}
		hasSection = hasSection || section
		// Decoded as texts, and an alias has none of its own.
		if key := root.Content[i&^1].Value; isValue && slices.Contains([]string{"kind", "apiVersion", "name"}, key) && (n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str") {
			return true
		}
	}
	return err != nil || id.IsMain() && !hasSection || hasTag(root)
}

func hasTag(n *yaml.Node) bool {
	custom := strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!")
	return custom || slices.ContainsFunc(n.Content, hasTag)
}

// hasTwins reports whether two documents have the same identity, which talosgen
// refuses.
func hasTwins(docs []*yaml.Node) bool {
	seen := map[ID]bool{}
	for _, d := range docs {
		if d.Kind == yaml.MappingNode && seen[idOf(d)] {
			return true
		}
		seen[idOf(d)] = true
	}
	return false
}

// FuzzApply: no patch makes talosgen panic or lose its way, with directives or
// without; what comes out can be read leaf by leaf, and decodes again.
func FuzzApply(f *testing.F) {
	addCorpus(f)
	base := testBase(f, "v1.13", Worker)
	layer := mustLoad(f, "lower.yaml", zeroBase)
	lower, _, err := base.Apply([]*Patch{layer})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := LoadPatch(Source{File: "p.yaml", Data: data, Encrypted: data}, LoadOptions{Scope: secretScope})
		if err != nil {
			checkProblems(t, err)
			return
		}
		cfg, _, err := lower.Apply([]*Patch{p, p})
		if err != nil {
			return
		}
		for _, d := range cfg.Documents() {
			if _, err := cfg.Secret(d); err != nil {
				t.Fatal(err)
			}
			if tree, err := d.Tree(); err != nil {
				t.Fatal(err)
			} else if hasTag(tree) {
				t.Fatalf("%s has a tag", d.ID)
			}
		}
		if _, err := Trace(lower, []*Patch{p}); err != nil {
			t.Logf("applied twice, it can be; once: %v", err)
		}
	})
}

// TestMergeLeavesClonesAlone pins what sharing patches relies on: a merge takes
// over pointers of its right side, so that side has to be a clone; and a clone
// shares nothing that a merge changes. If this fails after an upgrade of the
// library, patches have to be loaded for each node.
func TestMergeLeavesClonesAlone(t *testing.T) {
	files, err := filepath.Glob("testdata/oracle/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	merged := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var docs []config.Document
		for _, part := range archive.Files {
			if p, err := LoadPatch(Source{File: part.Name, Data: part.Data}, LoadOptions{}); err == nil && filepath.Ext(part.Name) == ".yaml" && part.Name != "meta.yaml" {
				for _, pd := range p.docs {
					if pd.typed != nil {
						docs = append(docs, pd.typed)
					}
				}
			}
		}
		for _, left := range docs {
			for _, right := range docs {
				if typedID(left) != typedID(right) {
					continue
				}
				before := marshal(t, right)
				target := clone(left)
				first, second := merge.Merge(target, clone(right)), merge.Merge(target, clone(right))
				if first == nil && second == nil {
					merged++
				}
				if after := marshal(t, right); after != before {
					t.Errorf("%s: a merge changed the patch it took a clone of:\n%s\n%s", file, before, after)
				}
			}
		}
	}
	if merged < 100 {
		t.Errorf("only %d merges", merged)
	}
}
