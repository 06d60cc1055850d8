package manifest

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"comments", "# a\n---\n---\n# b\n", ""},
		{"null", "null\n---\n{}\n", ""},
		{"documents", "{apiVersion: v1, kind: A, metadata: {name: a}}\n---\n{apiVersion: v1, kind: B, metadata: {name: b}}\n", "A/a B/b"},
		{"JSON", `{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a\u00e4"}}`, "A/aä"},
		{"CRLF", "apiVersion: v1\r\nkind: A\r\nmetadata:\r\n  name: a\r\n", "A/a"},
		{"list", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a}}\n- {apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: B, metadata: {name: b}}]}\n", "A/a B/b"},
		{"empty list", "apiVersion: v1\nkind: List\nitems: []\n", ""},
		{"a kind that ends with List", "apiVersion: x/v1\nkind: AllowList\nmetadata: {name: a}\nitems: []\n", "AllowList.x/a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			objects, err := Parse("f.yaml", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, o := range objects {
				ids = append(ids, o.ID().String())
			}
			if got := strings.Join(ids, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestParseProblems(t *testing.T) {
	const a = "{apiVersion: v1, kind: A, metadata: {name: a}"
	for _, tt := range []struct{ name, text, want string }{
		{"syntax", "a: b\n c\n  d: e", "f.yaml:3:4: not valid YAML"},
		{"twice", "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  name: b\n", "f.yaml:5:3: the key \"name\" is there twice"},
		{"twice, as text and number", a + ", d: {1: a, \"1\": b}}", "f.yaml:1:58: the key \"1\" is there twice"},
		{"all at once", a + ", a: 1, a: 2}\n---\n[]\n---\n{kind: B}\n", "f.yaml:1:54: the key \"a\" is there twice\n  remove one of them; which one counts depends on the reader\nf.yaml:3:1: the document is no object\n  a Kubernetes object is a map with apiVersion, kind and metadata\nf.yaml:5:1: the B has no apiVersion\n3 problems"},
		{"no kind", "apiVersion: v1\n", "the object has no kind"},
		{"no apiVersion", "kind: A\n", "the A has no apiVersion"},
		{"no name", "---\napiVersion: v1\nkind: Job\nmetadata: {}\n", "f.yaml:2:1: the Job has no metadata.name"},
		{"generateName", "apiVersion: v1\nkind: Job\nmetadata: {generateName: a-}\n", "give it a name"},
		{"name that is none", "apiVersion: v1\nkind: A\nmetadata: {name: y}\n", "the metadata.name of the object is no text\n  quote it"},
		{"item of a list", "apiVersion: v1\nkind: List\nitems:\n- a\n- {kind: B}\n", "f.yaml:4:3: the item of the list is no object"},
		{"text", "just text\n", "f.yaml:1:1: the document is no object"},
		{"infinite", a + ", v: .inf}", "f.yaml:1:51: .inf: infinity"},
		{"tag", a + ", v: !secret x}", "f.yaml:1:51: the tag !secret means nothing"},
		{"binary", a + ", v: !!binary aGk=}", "the tag !!binary means nothing"},
		{"null key", a + ", ~: x}", "f.yaml:1:48: a key has to be a text"},
		{"map as key", a + ", {a: b}: x}", "f.yaml:1:48: a key has to be a text"},
		{"merge of a text", a + ", <<: x}", "<< needs a map"},
		{"deep", a + ", v: " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}", "nested deeper than 100 levels"},
		{"bomb", bomb(), "aliases stand for more than 200000 values"},
		{"itself", "apiVersion: v1\nkind: A\nmetadata: {name: a}\nv: &v [*v]\n", "f.yaml:4"},
		{"large", strings.Repeat("#", maxSize+1), "f.yaml: the file is larger than 32 MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			objects, err := Parse("f.yaml", []byte(tt.text))
			if err == nil {
				t.Fatalf("no error, but %v", objects)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
}

// bomb is a short text that stands for a billion values.
func bomb() string {
	text := "apiVersion: v1\nkind: A\nmetadata: {name: a}\na0: &a0 x\n"
	for i := range 9 {
		previous := "*a" + string(rune('0'+i))
		text += "a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + strings.Repeat(previous+", ", 9) + previous + "]\n"
	}
	return text
}
