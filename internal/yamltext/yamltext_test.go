package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

func TestScan(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"scalars", "a: x\nb: 1\nc: true\nd: 1.5\ne: null\nf: \"\"\ng: ''\nh: {}\ni: []\n",
			`a=x b=int:1 c=bool:true d=float:1.5 e=null f= g= h={} i=[]`},
		{"nested", "a:\n    b:\n        c: x\n    d: y\ne: z\n", `a.b.c=x a.d=y e=z`},
		{"sequences", "a:\n    - x\n    - y\nb:\n- z\nc: 1\n", `a[0]=x a[1]=y b[0]=z c=int:1`},
		{"mappings in sequences", "a:\n    - k: 1\n      l: 2\n    - k: 3\n", `a[0].k=int:1 a[0].l=int:2 a[1].k=int:3`},
		{"sequences in sequences", "a:\n    - - x\n      - y\n    - - z\n", `a[0][0]=x a[0][1]=y a[1][0]=z`},
		{"a dash alone", "a:\n    -\n        # note\n        k: v\n    - w\n", `a[0].k=v a[1]=w`},
		{"deep nesting ends", "a:\n    - b:\n        - c:\n            d: x\n      e: y\nf: z\n", `a[0].b[0].c.d=x a[0].e=y f=z`},
		{"literal", "a: |\n    x\n      y\n\n    z\nb: 1\n", "a=x\n  y\n\nz\n b=int:1"},
		{"literal chomped", "a: |-\n    x\nb: |+\n    y\n\nc: 1\n", "a=x b=y\n\n c=int:1"},
		{"literal indicated", "a: |4-\n      x\n    y\n", "a=  x\ny"},
		{"literal in a sequence", "a:\n    - |\n      x\n    - y\n", "a[0]=x\n a[1]=y"},
		{"quoted", `a: "x\ty\n\"z\" \u00e9"` + "\nb: 'it''s'\n'n': q\n\"k: l\": m\n", "a=x\ty\n\"z\" é b=it's n=q \"k: l\"=m"},
		{"comments", "# head\na: x # line\n# between\nb: y#no\n", "a=x b=y#no"},
		{"no value", "a:\nb:\n    c:\n    d: x\ne:\n    -\n    - y\nf:\n", "a=null b.c=null b.d=x e[0]=null e[1]=y f=null"},
		{"keys with dots", "labels:\n    a.b/c: x\n", `labels."a.b/c"=x`},
		{"strings that look odd", "a: 1.2.3.4\nb: 10.0.0.0/8\nc: 12ab\nd: http://x:1/\ne: a:b\n", "a=1.2.3.4 b=10.0.0.0/8 c=12ab d=http://x:1/ e=a:b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			leaves, err := Leaves([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range leaves {
				got = append(got, describe(&l))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got  %q\nwant %q", strings.Join(got, " "), tt.want)
			}
		})
	}
}

func describe(l *Leaf) string {
	text := map[Kind]string{Int: "int:", Bool: "bool:", Float: "float:", Null: "null", EmptyMap: "{}", EmptySequence: "[]"}[l.Kind]
	return l.Path.String() + "=" + text + l.Value
}

func TestScanRefusesWhatItDoesNotRead(t *testing.T) {
	for _, in := range []string{
		"a: [x]\n", "a: {b: c}\n", "a: >\n  x\n", "a: &x 1\n", "a: *x\n", "a: !t x\n", "? a\n: b\n",
		"a: x\n  y\n", "a: \"x\n  y\"\n", "a: 'x\n  y'\n", "just text\n", "a: |9x\n   y\n", "a: \"\\q\"\n", "\ta: b\n", "a: \"x\" y\n",
	} {
		if _, err := Leaves([]byte(in)); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestLeafOffsets(t *testing.T) {
	text := []byte("a:\n    # secret\n    b: |\n        x\n    c:\n        - k: v\n        - w\n")
	want := map[string]string{"a.b": "    b: |\n        x\n", "a.c[0].k": "        - k: v\n", "a.c[1]": "        - w\n"}
	values := map[string]string{"a.b": "|", "a.c[0].k": "v", "a.c[1]": "w"}
	dashed := map[string]bool{"a.c[0].k": true}
	leaves, err := Leaves(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leaves {
		p := l.Path.String()
		if got := string(text[l.Start:l.End]); got != want[p] {
			t.Errorf("%s: lines %q, want %q", p, got, want[p])
		}
		if got := string(text[l.ValueStart : l.ValueStart+1]); got != values[p] {
			t.Errorf("%s: value starts with %q", p, got)
		}
		if l.Dashed != dashed[p] {
			t.Errorf("%s: dashed = %v", p, l.Dashed)
		}
	}
}

func TestSplit(t *testing.T) {
	docs := Split([]byte("---\na: 1\n---\n\n--- \nb: |\n    ---\n    x\n"))
	if len(docs) != 2 || string(docs[0]) != "a: 1\n" || string(docs[1]) != "b: |\n    ---\n    x\n" {
		t.Errorf("got %q", docs)
	}
}

func TestNormalize(t *testing.T) {
	in := "a: [x, {b: 'c: d', e: []}]\nf: >\n  folded\n  text\ng: &g {h: 1}\ni: *g\nj: \"\\x01\"\nk: !!str 1\n"
	want := "a:\n    - x\n    -\n        b: \"c: d\"\n        e: []\nf: \"folded text\\n\"\ng:\n    h: 1\ni:\n    h: 1\nj: \"\\U00000001\"\nk: \"1\"\n"
	got, err := Normalize([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"a: x\nb:\n    - 1\n    - k: |\n        y\n", "a: [x]\n", "a: \"\\u00e9\"\n", "a: |2+\n   x\n\n", "- a\n- - b\n", "a:\n- b\n", "a: 0x1f\nb: 0b11\nc: 1_000\nd: 1e3\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		checkAgainstParser(t, in)
		if normal, err := Normalize(in); err == nil {
			leaves, err := Leaves(normal)
			if err != nil {
				t.Fatalf("normalized text is not read: %v\n%s", err, normal)
			}
			compareWithParser(t, leaves, in)
		}
	})
}

// checkAgainstParser requires that a scan either refuses a text or finds what
// the YAML library finds.
func checkAgainstParser(t *testing.T, in []byte) {
	t.Helper()
	leaves, err := Leaves(in)
	if err != nil || !isPlainText(in) {
		return
	}
	compareWithParser(t, leaves, in)
}

// isPlainText holds for what encoders write. Other line breaks and control
// characters are rejected by the parser or fold in ways that never occur.
func isPlainText(in []byte) bool {
	return !bytes.ContainsFunc(in, func(r rune) bool {
		return r == '\t' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfffd || r == 0xfeff || (r < ' ' && r != '\n') || (r >= 0x7f && r < 0xa0) || (r >= 0xd800 && r < 0xe000)
	})
}

func compareWithParser(t *testing.T, leaves []Leaf, in []byte) {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(in, &doc); err != nil || len(doc.Content) == 0 {
		return
	}
	want := map[string]*yaml.Node{}
	var any map[string]any
	if err := yaml.Unmarshal(in, &any); err != nil {
		return // a repeated key, or a document that is no mapping
	}
	collect(doc.Content[0], nil, want, 0)
	delete(want, fmt.Sprint(Path(nil))) // an empty document has no leaf
	got := map[string]bool{}
	for _, l := range leaves {
		p := fmt.Sprint(l.Path)
		n := want[p]
		if n == nil {
			t.Fatalf("found %s, which is not in\n%s", p, in)
		}
		got[p] = true
		if !sameScalar(&l, n) {
			t.Fatalf("%s is %v %q, want %s %q in\n%s", p, l.Kind, l.Value, n.Tag, n.Value, in)
		}
	}
	for p := range want {
		if !got[p] {
			t.Fatalf("missed %s in\n%s", p, in)
		}
	}
}

func collect(n *yaml.Node, at Path, into map[string]*yaml.Node, depth int) {
	if depth > deepest {
		return
	}
	if n.Kind == yaml.AliasNode {
		collect(n.Alias, at, into, depth+1)
		return
	}
	if n.Kind == yaml.ScalarNode || len(n.Content) == 0 {
		into[fmt.Sprint(at)] = n
		return
	}
	for i := 0; i < len(n.Content); i++ {
		if n.Kind == yaml.SequenceNode {
			collect(n.Content[i], append(at[:len(at):len(at)], Index(i)), into, depth+1)
			continue
		}
		collect(n.Content[i+1], append(at[:len(at):len(at)], Key(n.Content[i].Value)), into, depth+1)
		i++
	}
}

func sameScalar(l *Leaf, n *yaml.Node) bool {
	switch n.Tag {
	case "!!str":
		return l.Kind == String && l.Value == n.Value
	case "!!null":
		return l.Kind == Null
	case "!!map":
		return l.Kind == EmptyMap
	case "!!seq":
		return l.Kind == EmptySequence
	case "!!bool":
		return l.Kind == Bool && l.Value == n.Value
	case "!!int":
		return l.Kind == Int && l.Value == n.Value
	case "!!float":
		f, err := strconv.ParseFloat(strings.ReplaceAll(l.Value, "_", ""), 64)
		return l.Kind == Float && l.Value == n.Value && (err != nil || !math.IsNaN(f))
	default:
		return l.Value == n.Value // timestamps, merges: read as text
	}
}

func BenchmarkScan(b *testing.B) {
	text := []byte(strings.Repeat("machine:\n    kubelet:\n        image: ghcr.io/siderolabs/kubelet:v1.32.0\n        extraArgs:\n            rotate: \"true\"\n        nodeIP:\n            validSubnets:\n                - 10.0.0.0/8\n", 20))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Scan(text, func(*Leaf) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
