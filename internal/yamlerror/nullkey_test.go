package yamlerror_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/yamlerror"
)

func TestNullKeys(t *testing.T) {
	for text, want := range map[string]string{
		"a: null\nb: [null, ~]\n":                       "",
		"\"null\": a\n'~': b\nNuLL: c\n!!str null: d\n": "",
		"a:\n  null: b\n":                               "2:3",
		"- {~: b}\n- Null: c\n":                         "1:4 2:3",
		"null:\n  NULL: a\n":                            "1:1 2:3",
		"a: &a {null: b}\nc: *a\n":                      "1:8",
	} {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range yamlerror.NullKeys("f.yaml", doc.Content[0]) {
			place, _, _ := strings.Cut(strings.TrimPrefix(p.Error(), "f.yaml:"), ": a key that is null")
			got = append(got, place)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: null keys at %q, want %q", text, got, want)
		}
	}
}
