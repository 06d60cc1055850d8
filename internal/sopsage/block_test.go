package sopsage

import (
	"slices"
	"strings"
	"testing"
)

func TestParseBlock(t *testing.T) {
	ring, key, private := testKeyring(t)
	file := encryptTemplate(t, key, "nodes/a.yaml", sample)
	block, err := ParseBlock("nodes/a.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	text := file[block.Start:block.End]
	if !strings.HasPrefix(text, "sops:\n    age:\n") || !strings.HasSuffix(text, "\n    version: 3.13.3\n") {
		t.Errorf("block:\n%s", text)
	}
	if rest := file[:block.Start] + file[block.End:]; strings.Contains(rest, "sops") || !strings.Contains(rest, "# secret\n---\nb:") {
		t.Errorf("the rest:\n%s", rest)
	}
	recipients, err := block.Recipients()
	if err != nil || !recipients.Equal(ring.Recipients(Operator)) {
		t.Errorf("recipients %v, %v", recipients.Strings(), err)
	}
	unwrapped, err := keysOf(private).BlockKey(t.Context(), "nodes/a.yaml", block)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(unwrapped.key, key.key) {
		t.Error("another data key")
	}
	if again := encryptTemplate(t, unwrapped, "nodes/a.yaml", sample); again != file {
		t.Errorf("encrypted with the key of the block:\n%s", again)
	}
	other, _ := identity(t, 5)
	_, err = keysOf(other).BlockKey(t.Context(), "nodes/a.yaml", block)
	wantError(t, err, "nodes/a.yaml: none of the identities")
}

func TestParseBlockForms(t *testing.T) {
	for _, tt := range []struct {
		name, file, want string // want is the block's first line and last byte, or the error
		err              bool
	}{
		{name: "none", file: "a: b\n"},
		{name: "empty", file: ""},
		{name: "second document", file: "a: b\n---\nsops:\n    mac: x\n"},
		{name: "nested", file: "a:\n    sops:\n        mac: x\n"},
		{name: "first document with a marker", file: "---\na: b\nsops:\n    mac: x\n---\nc: d\n", want: "sops:\n    mac: x\n"},
		{name: "not at the end", file: "sops:\n    mac: x\n\na: b\n", want: "sops:\n    mac: x\n\n"},
		{name: "no line break at the end", file: "sops:\n    mac: x", want: "sops:\n    mac: x"},
		{name: "unknown entry", file: "a: b\nsops:\n    CANARY: x\n", want: "f:2: the sops block cannot be read", err: true},
		{name: "entry twice", file: "sops:\n    mac: x\n    mac: y\n", want: "the sops block cannot be read", err: true},
		{name: "not a mapping", file: "sops:\n    - mac\n", want: "not a mapping", err: true},
		{name: "empty block", file: "sops:\na: b\n", want: "not a mapping", err: true},
		{name: "no YAML", file: "sops:\n    mac: [\n", want: "not valid YAML", err: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			block, err := ParseBlock("f", []byte(tt.file))
			if tt.err {
				wantError(t, err, tt.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if block != nil {
				got = tt.file[block.Start:block.End]
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
