package envelope

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// fake stands in for the cipher: it shows what it was given.
type fake struct{}

func (fake) Encrypt(path []string, value string, kind yamltext.Kind) (string, error) {
	return fmt.Sprintf("ENC[%s|%q|%d]", strings.Join(path, ":"), value, kind), nil
}

func (fake) Block() []byte { return []byte("sops:\n    mac: x\n") }

func (fake) Decrypt(path []string, encrypted string) (string, yamltext.Kind, error) {
	var value string
	var kind yamltext.Kind
	rest, ok := strings.CutPrefix(encrypted, "ENC["+strings.Join(path, ":")+"|")
	if !ok {
		return "", 0, fmt.Errorf("wrong path for %s", encrypted)
	}
	_, err := fmt.Sscanf(rest, "%q|%d]", &value, &kind)
	return value, kind, err
}

func document(t *testing.T, text string, secret ...string) Document {
	t.Helper()
	leaves, err := yamltext.Leaves([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d := Document{Text: []byte(text), Leaves: leaves, Secret: make([]bool, len(leaves))}
	for i, l := range leaves {
		for _, s := range secret {
			d.Secret[i] = d.Secret[i] || l.Path.String() == s
		}
	}
	return d
}

func TestSeal(t *testing.T) {
	first := document(t, "a: x\nb: 5\nlist:\n    - k: |\n        two\n        lines\n      l: y\n    - - z\n", "b", "list[0].k", "list[1][0]")
	second := document(t, "kind: K\nflag: true\nhex: 0x10\n", "flag", "hex")
	got, err := Seal([]Document{first, second}, fake{})
	if err != nil {
		t.Fatal(err)
	}
	want := `a: x
b: ENC[b|"5"|1] # secret
list:
    - k: ENC[list:k|"two\nlines\n"|0] # secret
      l: y
    - - ENC[list|"z"|0] # secret
sops:
    mac: x
---
kind: K
flag: ENC[flag|"true"|3] # secret
hex: ENC[hex|"16"|1] # secret
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	checkOpened(t, got)
}

func checkOpened(t *testing.T, file []byte) {
	t.Helper()
	start := strings.Index(string(file), "sops:")
	isEncrypted := func(s string) bool { return strings.HasPrefix(s, "ENC[") }
	leaves, err := Open(file, start, start+len(fake{}.Block()), isEncrypted, fake{})
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, l := range leaves {
		if l.Secret {
			text = append(text, fmt.Sprintf("%d %s %q", l.Document, l.Path, l.Value))
		}
	}
	want := `0 b "5"; 0 list[0].k "two\nlines\n"; 0 list[1][0] "z"; 1 flag "true"; 1 hex "16"`
	if got := strings.Join(text, "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What is encrypted is a number or a boolean if the value is one, in the
// spelling that SOPS has for it.
func TestPlainSpellings(t *testing.T) {
	for text, want := range map[string]string{
		"5": `"5"|1`, "-5": `"-5"|1`, "0o600": `"384"|1`, "0600": `"384"|1`, "0x1F": `"31"|1`, "0b11": `"3"|1`, "1_000": `"1000"|1`,
		"18446744073709551615": `"18446744073709551615"|0`,
		"1.5":                  `"1.5"|2`, "1.50": `"1.5"|2`, "1e3": `"1000"|2`, "1e+21": `"1000000000000000000000"|2`, ".inf": `".inf"|0`, ".nan": `".nan"|0`,
		"true": `"true"|3`, "False": `"false"|3`, "TRUE": `"true"|3`,
		`"5"`: `"5"|0`, "'true'": `"true"|0`, "text": `"text"|0`, "2026-01-01": `"2026-01-01"|0`, "yes": `"yes"|0`,
	} {
		got, err := Seal([]Document{document(t, "a: "+text+"\n", "a")}, fake{})
		if err != nil || !strings.HasPrefix(string(got), "a: ENC[a|"+want+"] # secret\n") {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestSealWithoutSecretsHasNoBlock(t *testing.T) {
	got, err := Seal([]Document{document(t, "a: x\n"), document(t, "b: y")}, fake{})
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != "a: x\n---\nb: y\n" {
		t.Errorf("got %q", got)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("a: ENC[a|\"x\"|0] # secret\nsops:\n    mac: x\n"), 26, 42)
	f.Fuzz(func(t *testing.T, file []byte, start, end int) {
		_, err := Open(file, start, end, func(s string) bool { return strings.HasPrefix(s, "ENC[") }, nil)
		_ = err // any answer is fine, as long as there is one
	})
}
