package sopsage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/getsops/sops/v3"
)

// sameEmitted compares what is printed of documents with what SOPS' store prints.
func sameEmitted(t *testing.T, branches sops.TreeBranches, indent int) {
	t.Helper()
	want, wantErr := newYAMLStore(indent).Store.EmitPlainFile(branches)
	got, err := newYAMLStore(indent).EmitPlainFile(branches)
	if (err != nil) != (wantErr != nil) || string(got) != string(want) {
		t.Fatalf("%v\n%s (%v)\nwant\n%s (%v)", branches, got, err, want, wantErr)
	}
}

// values are scalars that are written in different ways.
var values = []any{
	"", " ", "a", "a b", "true", "yes", "no", "on", "null", "~", "1", "0x10", "1_000", "1e3", "12:30", "2026-01-01", "a: b", "a #b", "#", "- a", "-", "?", "*a", "&a", "!a", "%a", "@a", "`a", "{a", "[a", "'", `"`, "a'b\"c",
	"two\nlines", "two\nlines\n", "two\nlines\n\n", "\n", "\nleading", "  indented\nlines", "trailing \nblank", "tab\there", "\ttab", "a\rb", "a\u2028b", "é", "日本", "\x00", "\x7f", "\xff", "\u00a0", "\ufeff", "=", "<<", "...", "---", "--- a\n",
	strings.Repeat("long ", 60), strings.Repeat("x", 300), "-----BEGIN X-----\nabc\n-----END X-----\n",
	0, -1, 1 << 40, 1.5, 1e30, math.Inf(1), math.NaN(), true, false, nil, time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
}

// TestEmitScalars: each value, alone and in all places, is as SOPS prints it.
func TestEmitScalars(t *testing.T) {
	for _, v := range values {
		sameEmitted(t, sops.TreeBranches{{{Key: "k", Value: v}, {Key: "l", Value: []any{v, []any{v}, sops.TreeBranch{{Key: "m", Value: v}}}}}}, 4)
		sameEmitted(t, sops.TreeBranches{{{Key: v, Value: 1}}, {{Key: "second", Value: v}}}, 2)
	}
}

// TestEmitTrees: generated trees with comments everywhere are as SOPS prints them.
func TestEmitTrees(t *testing.T) {
	for seed := range uint64(3000) {
		g := treeMaker{rand.New(rand.NewPCG(seed, 1))}
		var branches sops.TreeBranches
		for range 1 + g.IntN(3) {
			branches = append(branches, g.branch(3))
		}
		sameEmitted(t, branches, g.IntN(5)*2)
	}
}

type treeMaker struct{ *rand.Rand }

func (g treeMaker) branch(depth int) sops.TreeBranch {
	branch := sops.TreeBranch{}
	for n := range g.IntN(5) {
		if g.IntN(3) == 0 {
			branch = append(branch, sops.TreeItem{Key: g.comment()})
		}
		branch = append(branch, sops.TreeItem{Key: fmt.Sprintf("key%d", n), Value: g.value(depth)})
	}
	if g.IntN(4) == 0 {
		branch = append(branch, sops.TreeItem{Key: g.comment()}, sops.TreeItem{Key: g.comment()})
	}
	return branch
}

func (g treeMaker) value(depth int) any {
	switch kind := g.IntN(5); {
	case depth == 0 || kind < 3:
		return values[g.IntN(len(values))]
	case kind == 3:
		return g.branch(depth - 1)
	}
	list := []any{}
	for range g.IntN(4) {
		if g.IntN(3) == 0 {
			list = append(list, g.comment())
		}
		list = append(list, g.value(depth-1))
	}
	if g.IntN(4) == 0 {
		list = append(list, g.comment())
	}
	return list
}

func (g treeMaker) comment() sops.Comment {
	return sops.Comment{Value: []string{" a", "", "b", " two  words"}[g.IntN(4)], Inline: g.IntN(2) == 0}
}

// TestEmitFiles: all of what this repository has in YAML is as SOPS prints it.
func TestEmitFiles(t *testing.T) {
	count := 0
	for _, pattern := range []string{"../../rendered/*/nodes/*.yaml", "../../rendered/*/*/*/*.yaml", "../../envs/*/*.yaml", "../../patches/*.yaml", "../../patches/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if branches, err := newYAMLStore(0).Store.LoadPlainFile(data); err == nil {
				sameEmitted(t, branches, 4)
				count++
			}
		}
	}
	if count < 20 {
		t.Errorf("only %d files are looked at", count)
	}
}
