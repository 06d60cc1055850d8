package sopsage

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// encryptTemplate makes a rendered file out of a template in which «path|value»
// or «path|value|type» stands for an encrypted leaf and «sops» for the block.
func encryptTemplate(t testing.TB, key *DataKey, name, template string) string {
	t.Helper()
	f := key.File(name)
	var out strings.Builder
	block := -1
	for {
		before, rest, ok := strings.Cut(template, "«")
		out.WriteString(before)
		if !ok {
			break
		}
		hole, after, _ := strings.Cut(rest, "»")
		template = after
		if hole == "sops" {
			block = out.Len()
			continue
		}
		parts := strings.Split(hole, "|")
		typ := Str
		if len(parts) > 2 {
			typ = Type(parts[2])
		}
		enc, err := f.Encrypt(strings.Split(parts[0], "."), parts[1], typ)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(enc)
	}
	text := out.String()
	if block < 0 {
		return text + string(f.Block())
	}
	return text[:block] + string(f.Block()) + text[block:]
}

// layouts are the forms in which the emitter of rendered files may mark secret
// leaves (see the package's documentation).
var layouts = []struct{ name, file, want string }{
	{"key of a mapping", "m:\n    a: «m.a|S» # secret\n    b: readable\n    c: «m.c|S» # secret\n", "m: {a: S, b: readable, c: S}"},
	{"top-level key, first and last", "a: «a|S» # secret\nb: readable\nc: «c|S» # secret\n", "{a: S, b: readable, c: S}"},
	{"items of a list", "l:\n    - «l|S» # secret\n    - readable\n    - «l|S2» # secret\nz: readable\n", "{l: [S, readable, S2], z: readable}"},
	{"list at the level of its key", "l:\n- «l|S» # secret\n- readable\nz: readable\n", "{l: [S, readable], z: readable}"},
	{"first key of a mapping in a list", "l:\n    - k: «l.k|S» # secret\n      x: readable\n    - k: readable\n      x: «l.x|S» # secret\n", "{l: [{k: S, x: readable}, {k: readable, x: S}]}"},
	{"only key of mappings in a list", "l:\n    - k: «l.k|S» # secret\n    - k: readable\n    - k: «l.k|S» # secret\n", "{l: [{k: S}, {k: readable}, {k: S}]}"},
	{"behind a nested mapping", "n:\n    m:\n        x: readable\n    s: «n.s|S» # secret\nr: readable\n", "{n: {m: {x: readable}, s: S}, r: readable}"},
	{"behind a nested list", "n:\n    m:\n        - readable\n    s: «n.s|S» # secret\nr: readable\n", "{n: {m: [readable], s: S}, r: readable}"},
	{"behind a block scalar", "n:\n    m: |\n        readable # secret\n        # secret\n    s: «n.s|S» # secret\nr: readable\n", "{n: {m: \"readable # secret\\n# secret\\n\", s: S}, r: readable}"},
	{"before a nested mapping", "n:\n    s: «n.s|S» # secret\n    m:\n        x: readable\n", "{n: {s: S, m: {x: readable}}}"},
	{"first key of a nested mapping", "n:\n    m:\n        s: «n.m.s|S» # secret\n        x: readable\nr: readable\n", "{n: {m: {s: S, x: readable}}, r: readable}"},
	{"nested in several lists", "l:\n    - l:\n        - k: «l.l.k|S» # secret\n          x: readable\n        - «l.l|S» # secret\n    - - - «l|S» # secret\n        - readable\n      - k: «l.k|S» # secret\n", "{l: [{l: [{k: S, x: readable}, S]}, [[S, readable], {k: S}]]}"},
	{"integers, numbers, booleans", "a: «a|42|int» # secret\nb: «b|-7|int» # secret\nc: «c|1.5|float» # secret\nd: «d|true|bool» # secret\ne: «e|false|bool» # secret\nf: 8080\n", "{a: 42, b: -7, c: 1.5, d: true, e: false, f: 8080}"},
	{"strings that look like other types", "a: «a|42» # secret\nb: «b|true» # secret\nc: «c|2026-01-01» # secret\nd: «d|null» # secret\n", `{a: "42", b: "true", c: "2026-01-01", d: "null"}`},
	{"several lines", "a: «a|-----BEGIN-----\nline # secret\n\n  end\n» # secret\nb: readable\n", `{a: "-----BEGIN-----\nline # secret\n\n  end\n", b: readable}`},
	{"quotes, unicode, control characters", "a: «a|it's \"ünïcode\" 日本 \\ : # {}\t\x01» # secret\nl:\n    - «l|'» # secret\n", `{a: "it's \"ünïcode\" 日本 \\ : # {}\t\u0001", l: ["'"]}`},
	{"empty string", "a: \"«a|»\" # secret\nb: \"\"\nc: «c|S» # secret\n", `{a: "", b: "", c: S}`},
	{"other comments", "# Written by talosgen\n\n# about secrets\na: «a|S» # secret\n# secret things\nb: readable # not secret\nl: # list\n    # item\n    - «l|S» # secret\n", "{a: S, b: readable, l: [S]}"},
	{"empty lines", "a:\n    s: «a.s|S» # secret\n\nb: readable\n\nl:\n    - «l|S» # secret\n\n    - readable\n\nz: readable\n", "{a: {s: S}, b: readable, l: [S, readable], z: readable}"},
	{"empty values", "a: {}\nb: []\nc: null\nd: «d|S» # secret\ne:\nf:\n    - {}\n    - «f|S» # secret\n    - null\n", "{a: {}, b: [], c: null, d: S, e: null, f: [{}, S, null]}"},
	{"a comment between nested blocks", "a:\n    b:\n        s: «a.b.s|S» # secret\n    # about c\n    c:\n        - «a.c|S» # secret\n        # about the next\n        - readable\n# about d\nd: readable\n", "{a: {b: {s: S}, c: [S, readable]}, d: readable}"},
	{"keys with special characters", "\"8080\":\n    a.b/c: readable\n    \"x: y\": «8080.x: y|S» # secret\n", `{"8080": {a.b/c: readable, "x: y": S}}`},
	{"several documents", "a: «a|S» # secret\n«sops»---\na: «a|S» # secret\nb: readable\n---\napiVersion: v1alpha1\nl:\n    - k: «l.k|T» # secret\n", "{a: S}\n---\n{a: S, b: readable}\n---\n{apiVersion: v1alpha1, l: [{k: T}]}"},
	{"secret in a later document only", "a: readable\n«sops»---\nb: «b|S» # secret\n", "{a: readable}\n---\n{b: S}"},
	{"documents with a start marker", "---\na: «a|S» # secret\n«sops»---\nb: readable\n", "{a: S}\n---\n{b: readable}"},
}

func TestLayouts(t *testing.T) {
	_, key, _ := testKeyring(t)
	for _, tt := range layouts {
		t.Run(tt.name, func(t *testing.T) {
			file := encryptTemplate(t, key, "nodes/a.yaml", tt.file)
			plain, err := sopsDecrypt(file, key.key)
			if err != nil {
				t.Fatalf("sops: %v\n%s", err, file)
			}
			wantYAML(t, plain, tt.want)
			// What sops wrote still carries the markers: encrypted again
			// with its own walk, the same leaves and no others are encrypted.
			again := sopsRewrite(t, file, key.key)
			if got, want := encryptedLeaves(again), encryptedLeaves(file); got != want {
				t.Errorf("%d values are encrypted after sops wrote the file, %d before:\n%s", got, want, again)
			}
			plain, err = sopsDecrypt(again, key.key)
			if err != nil {
				t.Fatalf("sops, second time: %v", err)
			}
			wantYAML(t, plain, tt.want)
		})
	}
}

// encryptedLeaves counts the encrypted values but for the MACs.
func encryptedLeaves(file string) int {
	return strings.Count(file, encPrefix) - strings.Count(file, macLine+encPrefix)
}

// sopsRewrite decrypts and encrypts a file with SOPS' library, as "sops edit"
// does.
func sopsRewrite(t *testing.T, file string, key []byte) string {
	t.Helper()
	plain, err := sopsDecrypt(file, key)
	if err != nil {
		t.Fatal(err)
	}
	store := newYAMLStore(0).Store
	tree, err := store.LoadEncryptedFile([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if tree.Branches, err = store.LoadPlainFile([]byte(plain)); err != nil {
		t.Fatal(err)
	}
	out, err := encryptTree(tree, key, randomCipher(), store, testTime)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestLayoutsThatDoNotWork pins why the marker stands behind the value: if one
// of these starts to work, the documentation is out of date.
func TestLayoutsThatDoNotWork(t *testing.T) {
	_, key, _ := testKeyring(t)
	for _, tt := range []struct{ name, file, err string }{
		{"above the first key of a mapping in a list", "l:\n    # secret\n    - k: «l.k|S»\n      x: readable\n", "does not match sops' data format"},
		{"behind a key with a mapping", "n: # secret\n    a: «n.a|S»\n    x: readable\n", "does not match sops' data format"},
		{"integer as key", "8080: readable\na: «a|S» # secret\n", "non-string key"},
		{"boolean as key", "true: readable\na: «a|S» # secret\n", "non-string key"},
		{"date as key", "2026-01-01: readable\na: «a|S» # secret\n", "non-string key"},
		{"readable integer beyond 64 bits", "n: 18446744073709551615\na: «a|S» # secret\n", "unknown type: uint64"},
		{"marker without an encrypted value", "a: readable # secret\nb: «b|S» # secret\n", "does not match sops' data format"},
		{"encrypted value without a marker", "a: «a|S»\nb: «b|S» # secret\n", "MAC mismatch"},
		{"marker with more text", "a: «a|S» # secret!\nb: «b|S» # secret\n", "MAC mismatch"},
		{"marker without a space", "a: «a|S» #secret\nb: «b|S» # secret\n", "MAC mismatch"},
		{"block in the second document", "a: «a|S» # secret\n---\nb: readable\n", "metadata not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := encryptTemplate(t, key, "nodes/a.yaml", tt.file)
			_, err := sopsDecrypt(file, key.key)
			wantError(t, err, tt.err)
		})
	}
	t.Run("readable date without quotes", func(t *testing.T) {
		plain, err := sopsDecrypt(encryptTemplate(t, key, "nodes/a.yaml", "d: 2026-01-01\nq: \"2026-01-01\"\nn: 0o17\n"), key.key)
		if err != nil {
			t.Fatal(err)
		}
		if want := "d: 2026-01-01T00:00:00Z\nq: \"2026-01-01\"\n\"n\": 15\n"; plain != want {
			t.Errorf("got %q, want %q", plain, want)
		}
	})
	t.Run("on a line of its own in a list item", func(t *testing.T) {
		file := encryptTemplate(t, key, "nodes/a.yaml", "l:\n    - # secret\n      k: «l.k|S»\n      x: readable\n")
		again := sopsRewrite(t, file, key.key)
		if strings.Contains(again, "x: readable") {
			t.Errorf("the marker survives sops:\n%s", again)
		}
	})
}

// wantYAML compares YAML documents by value and type.
func wantYAML(t *testing.T, got, want string) {
	t.Helper()
	if g, w := decodeAll(t, got), decodeAll(t, want); !reflect.DeepEqual(g, w) {
		t.Errorf("got %#v\nwant %#v\nfrom\n%s", g, w, got)
	}
}

func decodeAll(t *testing.T, text string) []any {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var docs []any
	for {
		var doc any
		if err := decoder.Decode(&doc); err != nil {
			if err.Error() == "EOF" {
				return docs
			}
			t.Fatalf("%v in\n%s", err, text)
		}
		docs = append(docs, doc)
	}
}
