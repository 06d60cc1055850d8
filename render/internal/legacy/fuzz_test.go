package legacy

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzConvert feeds patches of all sorts: nothing panics, the result parses,
// and what Talos 1.14 refuses is either converted or reported.
func FuzzConvert(f *testing.F) {
	for _, tt := range homeCases {
		f.Add([]byte(tt.patch), true)
	}
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(section(archive, "in.yaml")), false)
	}
	f.Fuzz(func(t *testing.T, patch []byte, all bool) {
		docs, err := parseAll(patch)
		if err != nil {
			t.Skip()
		}
		// only what the YAML library reads back as it wrote it
		text, err := Encode(docs)
		if err != nil {
			t.Skip()
		}
		if docs, err = parseAll(text); err != nil {
			t.Skip()
		}
		if again, err := Encode(docs); err != nil || !bytes.Equal(again, text) {
			t.Skip()
		}
		opts := Options{All: all, Workers: true}
		Conflicts("p.yaml", docs, opts)
		out, problems := Convert("p.yaml", docs, opts)
		text, err = Encode(out)
		if err != nil {
			t.Fatalf("cannot be written: %v", err)
		}
		converted, err := parseAll(text)
		if err != nil {
			t.Fatalf("does not parse: %v\n%s", err, text)
		}
		if left := Conflicts("p.yaml", converted, opts); len(left) > 0 && len(problems) == 0 {
			t.Errorf("nothing was reported, but this is left: %v\n%s", left, text)
		}
	})
}

func BenchmarkConflicts(b *testing.B) {
	docs := parse(b, "machine:\n  certSANs: [a]\n  sysctls: {a: b}\n---\napiVersion: v1alpha1\nkind: KubeletConfig\nextraArgs: {a: b}\n")
	for b.Loop() {
		if problems := Conflicts("p.yaml", docs, Options{}); problems != nil {
			b.Fatal(problems)
		}
	}
}
