package manifest

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	yamlv4 "go.yaml.in/yaml/v4"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files")

func TestEncodeGolden(t *testing.T) {
	source, err := os.ReadFile("testdata/encode.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Parse("encode.yaml", source)
	if err != nil {
		t.Fatal(err)
	}
	got := encode(t, objects...)
	if *update {
		if err := os.WriteFile("testdata/encode.golden.yaml", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/encode.golden.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s", got)
	}
	sameForAll(t, objects, got)
}

func encode(t *testing.T, objects ...Object) []byte {
	t.Helper()
	text, err := Encode(objects...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sameForAll checks that every reader of YAML finds the objects in the text.
func sameForAll(t *testing.T, objects []Object, text []byte) {
	t.Helper()
	again, err := Parse("again", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if !reflect.DeepEqual(again, objects) {
		t.Fatalf("read again:\n%#v\nwas\n%#v\nin\n%s", again, objects, text)
	}
	if len(objects) != 1 {
		return
	}
	want, err := json.Marshal(objects[0])
	if err != nil {
		t.Fatal(err)
	}
	for reader, unmarshal := range map[string]func([]byte, any) error{
		"Kubernetes (YAML 1.1)": kubernetes,
		"YAML v3":               yamlv3.Unmarshal,
		"YAML v4":               func(b []byte, v any) error { return yamlv4.Unmarshal(b, v) },
	} {
		var value map[string]any
		if err := unmarshal(text, &value); err != nil {
			t.Fatalf("%s: %v in\n%s", reader, err, text)
		}
		got, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%s reads\n%s\nwant\n%s\nin\n%s", reader, got, want, text)
		}
	}
}

// kubernetes reads YAML as kubectl and Flux do; numbers stay exact.
func kubernetes(text []byte, v any) error {
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		return err
	}
	return kubejson.Unmarshal(asJSON, v)
}

// TestEncodeGoTypes shows what objects written in Go become.
func TestEncodeGoTypes(t *testing.T) {
	type name string
	got := encode(t, Object{
		"kind": name("Service"), "apiVersion": "v1",
		"metadata": Object{"name": "a", "labels": map[string]string{"b": "yes"}},
		"spec":     map[string]any{"ports": []map[string]any{{"port": 80}, {"port": uint16(443)}}, "list": []string{"a", "b"}, "ratio": float32(0.5), "none": nil, "on": true},
	}, Object{"b": []int{1}, "a": []any{}})
	want := strings.Join([]string{
		"apiVersion: v1", "kind: Service", "metadata:", "  labels:", `    b: "yes"`, "  name: a",
		"spec:", "  list:", "  - a", "  - b", "  none: null", `  "on": true`, "  ports:", "  - port: 80", "  - port: 443", "  ratio: 0.5",
		"---", "a: []", "b:", "- 1", "",
	}, "\n")
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  string
	}{
		{math.Inf(1), "infinity"},
		{"\xff", "not UTF-8"},
		{func() {}, "a func() is no value"},
		{map[int]string{1: "a"}, "a map[int]string is no value"},
		{[]any{map[string]any{"x": struct{}{}}}, "[0]: x: a struct {} is no value"},
		{map[string]any{strings.Repeat("k", 1001): 1}, "a key of 1001 bytes"},
	} {
		_, err := Encode(Object{"kind": "A", "metadata": map[string]any{"name": "b"}, "c": tt.value})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "A/b: c: ") {
			t.Errorf("%v: %v, want %q", tt.value, err, tt.want)
		}
	}
}

// FuzzRoundTrip: what Parse reads, Encode writes so that everyone reads the
// same, and a second time gives the same bytes.
func FuzzRoundTrip(f *testing.F) {
	source, err := os.ReadFile("testdata/encode.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(source))
	f.Add("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: b}}\n---\n# nothing\n")
	f.Add("a: b\na: c\n")
	f.Fuzz(func(t *testing.T, text string) {
		objects, err := Parse("fuzz", []byte(text))
		if err != nil {
			return
		}
		first, err := Encode(objects...)
		if err != nil {
			return
		}
		sameForAll(t, objects, first)
	})
}

// FuzzText: every text comes back from every place in which it can stand.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "yes", "a\nb\n", " a\nb", "a\n\n", "\ta\n", "a\n\tb", "a\r\nb", "#a\n#b", "a: b\n- c\n", "---\n", "a \n b\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o := Object{"apiVersion": "v1", "kind": "A", "metadata": map[string]any{"name": "b"}, "text": s, "list": []any{s, []any{s}, map[string]any{"a": s}}}
		if len(s) > 0 && len(s) < 100 {
			o["keys"] = map[string]any{s: "value"}
		}
		text, err := Encode(o)
		if err != nil {
			return
		}
		sameForAll(t, []Object{o}, text)
	})
}

// FuzzResolve: an unquoted scalar is to us what it is to Kubernetes.
func FuzzResolve(f *testing.F) {
	for word := range words {
		f.Add(word)
	}
	for _, s := range []string{"0644", "0o17", "0b11", "1_000", "1e3", "1.", ".5", "+1", "-0", "-0.0", "0x1F", "1e999", "1_e700", ".0_0", "._0", "2001-01-01", "12:30", ".inf", "-.INF", ".nan", "18446744073709551615", "9223372036854775808", "-9223372036854775809", "_1", "1__0", "0_7", "0b+0", "0b-1", "-0b+1", "-0b-1", "+0b1", "0b-", "0b2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, " \t\r\n,:#[]{}&*!|>'\"%@`?") || strings.ContainsFunc(s, unprintable) || s == "-" || s == "<<" || s == "=" {
			return // not a plain scalar everywhere
		}
		var theirs map[string]any
		theirErr := kubernetes([]byte("a: "+s+"\n"), &theirs)
		value, err := resolve(s)
		if (err == nil) != (theirErr == nil) {
			t.Fatalf("%q: %v, Kubernetes: %v", s, err, theirErr)
		}
		if err != nil {
			return
		}
		got, _ := json.Marshal(value)
		want, _ := json.Marshal(theirs["a"])
		if string(want) == "-0" {
			want = []byte("0") // one number
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%q: %s, Kubernetes: %s", s, got, want)
		}
	})
}
