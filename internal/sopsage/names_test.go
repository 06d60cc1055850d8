package sopsage

import (
	"maps"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	const a, b, pgp = "age1aaaa", "age1bbbb", "85D77543B3D624B63CEA9E6DBC17301B491B3F21"
	for _, tt := range []struct {
		name, config string
		want         map[string]string
	}{
		{"behind an item", "- age:\n    - age1aaaa # Alice\n    - age1bbbb   #Bob (laptop)\n", map[string]string{a: "Alice", b: "Bob (laptop)"}},
		{"one key behind a name", "  - age: age1aaaa # Alice\n", map[string]string{a: "Alice"}},
		{"in a comment", "# age1aaaa: Alice\n# Bob = age1bbbb\n- age: age1bbbb,age1aaaa\n", map[string]string{a: "Alice", b: "Bob"}},
		{"above an item", "    # Alice\n    - age1aaaa\n    - age1bbbb\n", map[string]string{a: "Alice", b: ""}},
		{"anchors", "keys:\n  - &alice age1aaaa\n  - &bob age1bbbb\n", map[string]string{a: "alice", b: "bob"}},
		{"several in a line", "# Patches: everything.\n- age: age1aaaa,age1bbbb # the team\n", nil},
		{"a comment about a rule", "# Secrets: everything.\nage: age1aaaa\n", map[string]string{a: ""}},
		{"part of a word", "# Mallory age1aaaab\n- age: age1aaaab # Mallory\n", nil},
		{"of another kind", "- pgp: " + pgp + " # Alice\n", map[string]string{"pgp:" + pgp: "Alice"}},
		{"not to be printed", "- age1aaaa # A\x1b[2Jli\u202ece\r\n", map[string]string{a: "A[2Jlice"}},
		{"long", "- age1aaaa # " + strings.Repeat("x", 500) + "\n", map[string]string{a: strings.Repeat("x", longestName) + "…"}},
	} {
		got := Names([]byte(tt.config), []string{a, b, "pgp:" + pgp})
		if len(tt.want) == 0 && len(got) == 0 {
			continue
		}
		if !maps.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
