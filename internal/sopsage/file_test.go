package sopsage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

const sample = `a: «a|first» # secret
n: 5
l:
    - «l|second» # secret
    - «l|third» # secret
«sops»---
b:
    k: «b.k|42|int» # secret
    x: readable
`

func TestSameInputSameBytes(t *testing.T) {
	ring, key, private := testKeyring(t)
	first := encryptTemplate(t, key, "nodes/a.yaml", sample)
	encoded, err := ring.Encode()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ParseKeyring("keyring.yaml", encoded)
	if err != nil {
		t.Fatal(err)
	}
	key, err = parsed.Unwrap(t.Context(), keysOf(private), Operator, testBinding)
	if err != nil {
		t.Fatal(err)
	}
	if second := encryptTemplate(t, key, "nodes/a.yaml", sample); first != second {
		t.Errorf("first\n%s\nsecond\n%s", first, second)
	}
}

func TestNonces(t *testing.T) {
	ring, key, private := testKeyring(t)
	if err := ring.Rotate(Operator, ring.Recipients(Operator), testBinding, testRandom(3), testTime); err != nil {
		t.Fatal(err)
	}
	rotated, err := ring.Unwrap(t.Context(), keysOf(private), Operator, testBinding)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, tt := range []struct {
		name  string
		key   *DataKey
		file  string
		path  string
		value string
		typ   Type
	}{
		{"base", key, "nodes/a.yaml", "a.b", "12", Str},
		{"other value", key, "nodes/a.yaml", "a.b", "13", Str},
		{"other type", key, "nodes/a.yaml", "a.b", "12", Int},
		{"other path", key, "nodes/a.yaml", "a.c", "12", Str},
		{"path and value shifted", key, "nodes/a.yaml", "a", "b:12", Str},
		{"other file", key, "nodes/b.yaml", "a.b", "12", Str},
		{"file and path shifted", key, "nodes/a.yamla", ".b", "12", Str},
		{"other data key", rotated, "nodes/a.yaml", "a.b", "12", Str},
	} {
		enc, err := tt.key.File(tt.file).Encrypt(strings.Split(tt.path, "."), tt.value, tt.typ)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseSealed(enc)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[string(s.iv)]; ok {
			t.Errorf("%s has the nonce of %s", tt.name, other)
		}
		seen[string(s.iv)] = tt.name
	}
}

func TestReadableValuesMayChange(t *testing.T) {
	_, key, _ := testKeyring(t)
	file := encryptTemplate(t, key, "nodes/a.yaml", sample)
	file = strings.Replace(file, "n: 5", "n: 6\nnew: [x]", 1)
	file = strings.Replace(file, "x: readable", "x: other", 1)
	plain, err := sopsDecrypt(file, key.key)
	if err != nil {
		t.Fatal(err)
	}
	wantYAML(t, plain, "{a: first, n: 6, new: [x], l: [second, third]}\n---\n{b: {k: 42, x: other}}")
}

// TestTampering changes every character of every encrypted text and of the
// date: sops and talosgen's own reader must both refuse each of the files.
func TestTampering(t *testing.T) {
	_, key, _ := testKeyring(t)
	file := encryptTemplate(t, key, "nodes/a.yaml", "a: «a|first» # secret\nl:\n    - «l|2» # secret\n«sops»")
	want, err := sopsDecrypt(file, key.key)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(file) {
		lineStart := strings.LastIndexByte(file[:i], '\n') + 1
		line, _, _ := strings.Cut(file[lineStart:], "\n")
		enc := strings.Index(line, "ENC[")
		switch {
		case enc >= 0 && i >= lineStart+enc && i <= lineStart+strings.IndexByte(line, ']'):
		case strings.Contains(line, `lastmodified: "`) && i > lineStart+strings.IndexByte(line, '"') && i < lineStart+len(line)-1:
		default:
			continue
		}
		changed := []byte(file)
		if changed[i] = 'A'; file[i] == 'A' {
			changed[i] = 'B'
		}
		// SOPS ignores the unused bits at the end of a base64 text, and what
		// the MAC's type says: the bytes that count are still the same ones.
		if plain, err := sopsDecrypt(string(changed), key.key); err == nil && plain != want {
			t.Errorf("sops accepts byte %d of %q changed:\n%s", i-lineStart, line, plain)
		}
		if _, err := readAll(key, string(changed)); err == nil {
			t.Errorf("Reader accepts byte %d of %q changed", i-lineStart, line)
		}
	}
}

func TestMovedLeaves(t *testing.T) {
	_, key, _ := testKeyring(t)
	file := encryptTemplate(t, key, "nodes/a.yaml", sample)
	other := encryptTemplate(t, key, "nodes/b.yaml", strings.Replace(sample, "first", "1st", 1))
	lines := strings.SplitAfter(file, "\n")
	swapped := strings.Replace(file, lines[3]+lines[4], lines[4]+lines[3], 1)
	for _, tt := range []struct{ name, file string }{
		{"order of a list", swapped},
		{"leaf of another file", strings.Replace(file, lines[0], strings.SplitAfter(other, "\n")[0], 1)},
		{"leaf removed", strings.Replace(file, lines[3], "", 1)},
		{"leaf doubled", strings.Replace(file, lines[3], lines[3]+lines[3], 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.file == file {
				t.Fatal("nothing was changed")
			}
			if _, err := sopsDecrypt(tt.file, key.key); err == nil {
				t.Error("sops accepts it")
			}
			_, err := readAll(key, tt.file)
			wantError(t, err, "MAC mismatch")
			if diag.CodeOf(err) != diag.Secrets {
				t.Errorf("code %d", diag.CodeOf(err))
			}
		})
	}
}

func TestChangedRules(t *testing.T) {
	_, key, _ := testKeyring(t)
	file := encryptTemplate(t, key, "nodes/a.yaml", sample)
	for old, replaced := range map[string]string{
		"encrypted_comment_regex: ^ secret$": "encrypted_comment_regex: ^ se",
		"mac_only_encrypted: true":           "mac_only_encrypted: false",
	} {
		changed := strings.Replace(file, old, replaced, 1)
		if changed == file {
			t.Fatalf("%q is not in\n%s", old, file)
		}
		_, err := readAll(key, changed)
		wantError(t, err, "the sops block was changed")
	}
}

// readAll decrypts a rendered file with a Reader, finding the leaves by their
// paths as they are in the samples.
func readAll(key *DataKey, file string) ([]string, error) {
	block, err := ParseBlock("nodes/a.yaml", []byte(file))
	if err != nil {
		return nil, err
	}
	if block == nil {
		return nil, fmt.Errorf("no block")
	}
	body := file[:block.Start] + file[block.End:]
	r := key.Open("nodes/a.yaml")
	var values []string
	var parents []string
	for line := range strings.Lines(body) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if value == "" && strings.HasSuffix(line, ":\n") {
			parents = []string{name}
			continue
		}
		enc, secret := strings.CutSuffix(strings.TrimSpace(value), " # secret")
		path := []string{name}
		if strings.HasPrefix(line, " ") {
			path = append(parents[:1:1], name)
		}
		if strings.HasPrefix(name, "- ") {
			enc, secret = strings.CutSuffix(strings.TrimPrefix(strings.TrimSpace(line), "- "), " # secret")
			path = parents
		}
		if !secret {
			continue
		}
		value, typ, err := r.Decrypt(path, enc)
		if err != nil {
			return nil, err
		}
		values = append(values, string(typ)+" "+value)
	}
	return values, r.VerifyMAC(block)
}

func TestReader(t *testing.T) {
	_, key, _ := testKeyring(t)
	values, err := readAll(key, encryptTemplate(t, key, "nodes/a.yaml", sample))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(values, ", "); got != "str first, str second, str third, int 42" {
		t.Errorf("got %s", got)
	}
}

func TestReaderReadsBackEveryType(t *testing.T) {
	_, key, _ := testKeyring(t)
	f, r := key.File("f"), key.Open("f")
	for _, tt := range []struct {
		value string
		typ   Type
	}{
		{"text", Str}, {"", Str}, {"True", Str}, {"7", Int}, {"-7", Int}, {"0.25", Float}, {"true", Bool}, {"false", Bool},
	} {
		enc, err := f.Encrypt([]string{"a", "b"}, tt.value, tt.typ)
		if err != nil {
			t.Fatal(err)
		}
		value, typ, err := r.Decrypt([]string{"a", "b"}, enc)
		if err != nil || value != tt.value || typ != tt.typ {
			t.Errorf("%q %s came back as %q %s, %v", tt.value, tt.typ, value, typ, err)
		}
	}
	block, err := ParseBlock("f", f.Block())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.VerifyMAC(block); err != nil {
		t.Error(err)
	}
}

func TestEncryptRefusesWhatSOPSWouldChange(t *testing.T) {
	_, key, _ := testKeyring(t)
	for _, tt := range []struct {
		value string
		typ   Type
	}{
		{"0x1f", Int}, {"017", Int}, {"+1", Int}, {"99999999999999999999", Int}, {"CANARY", Int},
		{".inf", Float}, {"NaN", Float}, {"CANARY", Float}, {"yes", Bool}, {"CANARY", Bool}, {"CANARY", "time"},
	} {
		_, err := key.File("nodes/a.yaml").Encrypt([]string{"machine", "x"}, tt.value, tt.typ)
		wantError(t, err, "nodes/a.yaml: machine.x")
		if strings.Contains(err.Error(), "CANARY") {
			t.Errorf("the value is in the error: %v", err)
		}
	}
}

// TestRandomTrees encrypts random files and reads them with SOPS.
func TestRandomTrees(t *testing.T) {
	_, key, _ := testKeyring(t)
	rnd := rand.New(testRandom(7))
	for range 300 {
		g := &generator{rnd: rnd}
		g.mapping(0, nil, "")
		file := encryptTemplate(t, key, "nodes/a.yaml", g.file.String())
		plain, err := sopsDecrypt(file, key.key)
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		wantYAML(t, plain, g.plain.String())
	}
}

// generator writes a random file twice: as a template, and in plaintext.
type generator struct {
	rnd         *rand.Rand
	file, plain strings.Builder
	leaf        int
}

func (g *generator) both(text string) {
	g.file.WriteString(text)
	g.plain.WriteString(text)
}

// mapping writes keys at a depth; the first of them goes behind first, which is
// what is already on the line.
func (g *generator) mapping(depth int, path []string, first string) {
	for i := range 1 + g.rnd.IntN(4) {
		lead := strings.Repeat("    ", depth)
		if i == 0 && first != "" {
			lead = first
		}
		name := fmt.Sprintf("k%d", i)
		g.both(lead + name + ":")
		g.value(depth, append(path[:len(path):len(path)], name))
	}
}

func (g *generator) value(depth int, path []string) {
	switch kind := g.rnd.IntN(8); {
	case kind == 0 && depth < 4:
		g.both("\n")
		g.mapping(depth+1, path, "")
	case kind == 1 && depth < 4:
		g.both("\n")
		for range 1 + g.rnd.IntN(3) {
			g.both(strings.Repeat("    ", depth+1) + "-")
			if g.rnd.IntN(2) == 0 {
				// Four columns for a dash: the mapping lines up below it.
				g.mapping(depth+2, path, "   ")
			} else {
				g.scalar(path)
			}
		}
	default:
		g.scalar(path)
	}
}

func (g *generator) scalar(path []string) {
	g.leaf++
	switch g.rnd.IntN(4) {
	case 0:
		g.both(fmt.Sprintf(" readable%d\n", g.leaf))
	case 1:
		g.both(fmt.Sprintf(" %d # a comment\n", g.leaf))
	default:
		fmt.Fprintf(&g.file, " «%s|s%d» # secret\n", strings.Join(path, "."), g.leaf)
		fmt.Fprintf(&g.plain, " s%d\n", g.leaf)
	}
}

func BenchmarkEncrypt(b *testing.B) {
	_, key, _ := testKeyring(b)
	f := key.File("nodes/a.yaml")
	path, value := []string{"cluster", "apiServer", "certSANs"}, strings.Repeat("k", 48)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Encrypt(path, value, Str); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFile15Leaves(b *testing.B) {
	_, key, _ := testKeyring(b)
	path, value := []string{"cluster", "apiServer", "certSANs"}, strings.Repeat("k", 300)
	b.ReportAllocs()
	for b.Loop() {
		f := key.File("nodes/a.yaml")
		for range 15 {
			if _, err := f.Encrypt(path, value, Str); err != nil {
				b.Fatal(err)
			}
		}
		f.Block()
	}
}

func BenchmarkRead15Leaves(b *testing.B) {
	_, key, private := testKeyring(b)
	path := []string{"cluster", "apiServer", "certSANs"}
	f := key.File("nodes/a.yaml")
	var encrypted []string
	var file strings.Builder
	for range 15 {
		enc, err := f.Encrypt(path, strings.Repeat("k", 300), Str)
		if err != nil {
			b.Fatal(err)
		}
		encrypted = append(encrypted, enc)
		file.WriteString("x: " + enc + " # secret\n")
	}
	file.Write(f.Block())
	data, keys := []byte(file.String()), keysOf(private)
	b.ReportAllocs()
	for b.Loop() {
		block, err := ParseBlock("nodes/a.yaml", data)
		if err != nil {
			b.Fatal(err)
		}
		key, err := keys.BlockKey(b.Context(), "nodes/a.yaml", block)
		if err != nil {
			b.Fatal(err)
		}
		r := key.Open("nodes/a.yaml")
		for _, enc := range encrypted {
			if _, _, err := r.Decrypt(path, enc); err != nil {
				b.Fatal(err)
			}
		}
		if err := r.VerifyMAC(block); err != nil {
			b.Fatal(err)
		}
	}
}
