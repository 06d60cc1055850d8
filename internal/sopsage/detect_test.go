package sopsage

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestIsEncryptedYAML: how a block is written makes no difference, and a text that
// looks like one is none.
func TestIsEncryptedYAML(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                                  false,
		"a: 1\n":                                            false,
		"sops: 1\n":                                         false,
		"a: 1\nsops:\n    mac: x\n":                         true,
		"sops:\n    age:\n        - a\na: 1\n":              true,
		"a: 1\n---\nb: 1\nsops:\n  mac: x\n":                true,
		"a: 1\nsops: {mac: x}\n":                            true,
		"{a: 1, sops: {mac: x}}\n":                          true,
		"{\"a\": 1, \"sops\": {\"mac\": 1}}\n":              true,
		"\"sops\":\n  mac: x\n":                             true,
		"a:\n  sops:\n    mac: x\n":                         false,
		"a: |\n  sops:\n    mac: x\n":                       false,
		"--- |\nsops:\n  mac: x\n":                          false,
		"|\nsops:\n  mac: x\n":                              false,
		"--- !!str |\nsops:\n  mac: x\n":                    false,
		"sops:\n- a\n":                                      false,
		"sops:\n  text\n":                                   false,
		"a: 1\nlist:\n- b\nsops:\n  mac: x\n":               true,
		"a: [\nsops:\n  mac: x\n":                           true, // no YAML, and kept from being taken for readable
		"# sops:\n#   mac: x\na: 1\n":                       false,
		"kind: Secret\ndata:\n  a: b\n---\nsops:\n  x: 1\n": true,
	} {
		if got := IsEncryptedYAML([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if got := parsedBlock([]byte(text)); got != want {
			t.Errorf("%q, parsed: %v, want %v", text, got, want)
		}
	}
}

// What the scans look for, as patterns: these were ten times as slow.
var (
	blockPattern  = regexp.MustCompile(`(?m)^sops:\n +[a-z_]+:[ \n]`)
	scalarPattern = regexp.MustCompile(`(?m)^(--- *)?["'|>{\[!&]`)
)

// FuzzDetect: scans find what the patterns match.
func FuzzDetect(f *testing.F) {
	for _, text := range []string{
		"", "sops:\n", "sops:\n a:", "sops:\n a:\n", "sops:\n  a_b: c", "xsops:\n a: ", "\nsops:\n\n a: ", "sops:\nsops:\n a: ",
		"a: 1\nsops:\n  A: 1\nsops:\n  a: 1", "sops:\n a:x", "sops:\n : x", "a\n---  |\n", "--- a\n", "---\"", "----'", " |", "\n\n&", "---", "--- ",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, want := blockOfMapping(data), blockPattern.Match(data); got != want {
			t.Errorf("block in %q: %v, want %v", data, got, want)
		}
		if got, want := rootScalar(data), scalarPattern.Match(data); got != want {
			t.Errorf("scalar in %q: %v, want %v", data, got, want)
		}
	})
}

// BenchmarkIsEncryptedYAML looks at an encrypted node, as each command does at all.
func BenchmarkIsEncryptedYAML(b *testing.B) {
	files, err := filepath.Glob("../../rendered/dev/nodes/*.yaml")
	if err != nil || len(files) == 0 {
		b.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if !IsEncryptedYAML(data) {
			b.Fatal("not encrypted")
		}
	}
}
