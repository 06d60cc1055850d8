package yamlerror_test

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/yamlerror"
)

// blocks nests maps, one on each line.
func blocks(levels int) string {
	var b strings.Builder
	for i := range levels {
		fmt.Fprintf(&b, "%*sa:\n", i, "")
	}
	return b.String()
}

func TestTooDeep(t *testing.T) {
	const message = ": nested deeper than 100 levels"
	lists := strings.Repeat("[", 60) + "1" + strings.Repeat("]", 60)
	for _, tt := range []struct{ name, text, want string }{
		{"maps at the bound", blocks(100), ""},
		{"maps beyond it", blocks(101), "f.yaml:101:101" + message},
		{"far beyond it", blocks(3000), "f.yaml:101:101" + message},
		{"lists at the bound", strings.Repeat("[", 100) + "1" + strings.Repeat("]", 100), ""},
		{"lists beyond it", "a: b\nc: " + strings.Repeat("[", 100) + "1" + strings.Repeat("]", 100), "f.yaml:2:103" + message},
		{"behind what is flat", "f: {b: {c: d}}\n" + blocks(101), "f.yaml:102:101" + message},
		{"aliases within the bound", "a: &a " + lists + "\nb: [[*a]]\n", ""},
		{"aliases beyond it", "a: &a " + lists + "\nb: " + strings.Repeat("[", 60) + "*a" + strings.Repeat("]", 60) + "\n", "f.yaml:1:46" + message},
		{"an alias of itself", "a: &a [b, *a]\n", "f.yaml:1:4" + message},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(tt.text), &doc); err != nil {
				t.Fatal(err)
			}
			got := ""
			if p := yamlerror.TooDeep("f.yaml", doc.Content[0]); p != nil {
				got, _, _ = strings.Cut(p.Error(), "\n")
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
