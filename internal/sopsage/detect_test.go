package sopsage

import "testing"

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
