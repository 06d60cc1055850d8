package yamlerror_test

import (
	"errors"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/yamlerror"
)

func TestSyntax(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"where", "a: b\n c\n  d: e", "f.yaml:3:4: not valid YAML: mapping values are not allowed in this context"},
		{"with what was read", "a: [b\n", "f.yaml:2:1: not valid YAML: did not find expected ',' or ']', while parsing a flow sequence"},
		{"a tab", "a:\n\tb: c\n", "f.yaml:2:1: not valid YAML: found character that cannot start any token, while scanning for the next token\n" +
			"  indent with spaces: YAML takes no tabs there"},
		{"a tab after spaces", "a:\n  b: c\n \td: e\n", "f.yaml:3:2: not valid YAML: found a tab character that violates indentation, while scanning a plain scalar\n" +
			"  indent with spaces: YAML takes no tabs there"},
		{"a tag without a space", "a: {b: !delete}\n", "f.yaml:1:15: not valid YAML: found character '}' that is not allowed in a YAML tag, while parsing a tag\n" +
			"  put a space between a tag and what follows it: `{key: !delete }`"},
		{"a variable", "a: b\nc: [${X}, b]\n", "f.yaml:2:6: not valid YAML: did not find expected ',' or ']', while parsing a flow sequence\n" +
			"  quote a variable inside [ ] or { }: [\"${NAME}\"]"},
		{"a conflict", "a: b\n<<<<<<< HEAD\nc: d\n=======\nc: e\n>>>>>>> other\n", "f.yaml:3:1: not valid YAML: could not find expected ':', while scanning a simple key\n" +
			"  a merge left conflict markers, such as <<<<<<<: resolve the conflict"},
		{"NUL", "a: b\nc: d\x00\n", "f.yaml:2:5: not valid YAML: control characters are not allowed (value: 0)"},
		{"no UTF-8", "a: b\nc: \"d\xe9\"\n", "f.yaml:2:6: not valid YAML: invalid trailing UTF-8 octet (value: 34)"},
		{"cut UTF-8", "a: b\nc: é d\xc3", "f.yaml:2:7: not valid YAML: incomplete UTF-8 octet sequence"},
		{"control character", "a: é\x01\n", "f.yaml:1:5: not valid YAML: control characters are not allowed (value: 1)"},
		{"surrogate", "a: \xed\xa0\x80\n", "f.yaml:1:4: not valid YAML: invalid Unicode character (value: 55296)"},
		{"no marker", "a: 'x <<<<<<< y\n", "f.yaml:2:1: not valid YAML: found unexpected end of stream, while scanning a quoted scalar"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var node yaml.Node
			err := yaml.Unmarshal([]byte(tt.text), &node)
			if err == nil {
				t.Fatal("it is valid")
			}
			p := yamlerror.Syntax("f.yaml", []byte(tt.text), err)
			if p.Error() != tt.want || !errors.Is(p, err) {
				t.Errorf("got  %s\nwant %s", p, tt.want)
			}
		})
	}
}

// What no position is known of is said all the same.
func TestSyntaxElsewhere(t *testing.T) {
	p := yamlerror.Syntax("f.yaml", nil, errors.New("odd"))
	if want := "f.yaml: not valid YAML: odd"; p.Error() != want {
		t.Errorf("got %s, want %s", p, want)
	}
}
