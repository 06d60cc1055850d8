package tree

import (
	"strings"
	"testing"
)

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
