package printable

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain äöü ✓ 漢字 😀 …\n\tnext":        "plain äöü ✓ 漢字 😀 …\n\tnext",
		"\x1b[2J\x1b[31mred":                `\x1b[2J\x1b[31mred`,
		"a\rb\x00\x07\x7f":                  `a\rb\x00\x07\x7f`,
		"\u009b2J \u202eabc\u2066":          `\u009b2J \u202eabc\u2066`,
		"zero\u200bwidth\u2028line":         `zero\u200bwidth\u2028line`,
		"broken \xff\xfe":                   `broken \xff\xfe`,
		"ok\n::error::no\n  ::add-mask::x":  "ok\n\\::error::no\n  \\::add-mask::x",
		"##[command]x\n##vso[task]y\na ::b": "\\##[command]x\n\\##vso[task]y\na ::b",
		"":                                  "",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := Line("a\n::error::b\tc"); got != `a\n::error::b\tc` {
		t.Errorf("got %q", got)
	}
}

func TestJSON(t *testing.T) {
	in := []string{"a\x1b\x7f\u009b\u202e\n", "\U000e0041 ✓ \ue000"}
	var made bytes.Buffer
	encoder := json.NewEncoder(&made)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(in); err != nil {
		t.Fatal(err)
	}
	got := JSON(made.Bytes())
	var back []string
	if err := json.Unmarshal(got, &back); err != nil || !slices.Equal(in, back) {
		t.Errorf("%s: %v", got, err)
	}
	if strings.ContainsFunc(strings.ReplaceAll(string(got), "\n", ""), controls) || strings.Count(string(got), "\n") != 4 {
		t.Errorf("%q", got)
	}
}

func TestWriter(t *testing.T) {
	var b strings.Builder
	w := Writer(&b, "\x1b[31m", "\x1b[0m")
	in := "\x1b[31merror:\x1b[0m \x1b[32m\x1b[1A \ue000 x\n"
	n, err := w.Write([]byte(in))
	if want := "\x1b[31merror:\x1b[0m \\x1b[32m\\x1b[1A \\ue000 x\n"; err != nil || n != len(in) || b.String() != want {
		t.Errorf("%q, %d, %v", b.String(), n, err)
	}
	if _, err := Writer(broken{}).Write([]byte("x")); err == nil {
		t.Error("nothing is said of a pipe that is closed")
	}
}

type broken struct{}

// Write fails.
func (broken) Write([]byte) (int, error) { return 0, errors.New("closed") }

func FuzzText(f *testing.F) {
	f.Add("a\x1b[31m\n::error::\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		line := Line(text)
		if !utf8.ValidString(line) || strings.ContainsFunc(line, controls) {
			t.Errorf("%q of %q", line, text)
		}
		for l := range strings.Lines(Text(text)) {
			if strings.HasPrefix(strings.TrimLeft(l, " \t"), "::") {
				t.Errorf("%q of %q", l, text)
			}
		}
	})
}
