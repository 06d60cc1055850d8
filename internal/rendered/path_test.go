package rendered

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCheckPath(t *testing.T) {
	for _, good := range []string{
		"a", "a.yaml", ".sops.yaml", "a/.b", "nodes/dev-worker-1.yaml", "a b/c", "ä/日本", "a:b", `a"b`, "a/..b", "a..b", "…",
		strings.Repeat("x", maxPath),
	} {
		if p := CheckPath(good); p != nil {
			t.Errorf("%q is refused: %v", good, p)
		}
	}
	for _, bad := range []string{
		"", ".", "..", "/", "/a", "a/", "a//b", "./a", "../a", "a/../b", "a/..", "a/./b", `a\b`, `..\a`, "a\nb", "a\x00b",
		"a\x7fb", "a\xffb", "a\u2028b", "a\u00a0b", "a\ufeff", strings.Repeat("x", maxPath+1),
	} {
		p := CheckPath(bad)
		if p == nil {
			t.Errorf("%q is accepted", bad)
		} else if strings.ContainsFunc(p.Object, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(p.Object) {
			t.Errorf("%q is printed as it is", bad)
		}
	}
}
