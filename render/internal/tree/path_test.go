package tree

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
		if p := checkPath(good); p != nil {
			t.Errorf("%q is refused: %v", good, p)
		}
	}
	for _, bad := range []string{
		"", ".", "..", "/", "/a", "a/", "a//b", "./a", "../a", "a/../b", "a/..", "a/./b", `a\b`, `..\a`, "a\nb", "a\x00b",
		"a\x7fb", "a\xffb", "a\u2028b", "a\u00a0b", "a\ufeff", strings.Repeat("x", maxPath+1),
	} {
		p := checkPath(bad)
		if p == nil {
			t.Errorf("%q is accepted", bad)
		} else if strings.ContainsFunc(p.Object, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(p.Object) {
			t.Errorf("%q is printed as it is", bad)
		}
	}
}

func TestCheckOutputs(t *testing.T) {
	for _, tt := range []struct {
		paths string // sorted
		want  string
	}{
		{"a.yaml nodes/a nodes/b/c nodes/b/d x/b/c", ""},
		{"../a", "path ../a: is not a relative path"},
		{"a a", "output a: is produced twice"},
		{"nodes/A nodes/a", "output nodes/a: differs from output nodes/A in case only"},
		{"Nodes/a nodes/b", "in case only"},
		{"Nodes nodes/b", "in case only"},
		{"a a.b a/b/c", "output a: is both a file and a directory"},
		{"a/b a/b/c/d", "output a/b: is both a file and a directory"},
		{"render.lock.yaml", "output render.lock.yaml: is the name of the lock"},
		{"Render.lock.yaml", "output Render.lock.yaml: is the name of the lock"},
		{"render.lock.yaml/x", "output render.lock.yaml: is the name of the lock"},
	} {
		var files []File
		for path := range strings.FieldsSeq(tt.paths) {
			files = append(files, File{Path: path})
		}
		err := checkOutputs(files)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: the error is %v, want %q", tt.paths, err, tt.want)
		}
	}
}
