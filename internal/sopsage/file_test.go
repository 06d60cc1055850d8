package sopsage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
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
	if f.Leaves() != 0 {
		t.Error("a fresh file has leaves")
	}
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
	if f.Leaves() != 8 {
		t.Errorf("%d leaves", f.Leaves())
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
