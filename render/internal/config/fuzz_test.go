package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

// FuzzLoad checks what holds for any file: it gives a configuration or
// problems in that file, and no secret is shown.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	scope := &subst.Scope{Vars: subst.Vars{
		"SECRET": {Value: "CANARY", Secret: true},
		"N":      {Value: "3"},
	}}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Load(testFile, Files{testFile: data}, scope)
		if err != nil {
			if strings.Contains(err.Error(), "CANARY") && !strings.Contains(string(data), "CANARY") {
				t.Errorf("the error shows a secret: %v", err)
			}
			var list diag.List
			list.AddErr(err)
			for _, p := range list {
				if p.Pos.File != testFile {
					t.Errorf("no file in %v", p)
				}
			}
			return
		}
		names := map[string]bool{}
		for _, n := range c.Resolve() {
			if names[n.Name] || n.Name == "" || n.InstallDisk != "" && n.DiskSelector != (schemas.DiskSelector{}) {
				t.Errorf("bad node %q", n.Name)
			}
			names[n.Name] = true
		}
		if len(names) == 0 {
			t.Error("a valid file without nodes")
		}
	})
}

// BenchmarkLoad reads a cluster of 1000 static nodes, the largest kind of file,
// and a small one.
func BenchmarkLoad(b *testing.B) {
	var text strings.Builder
	text.WriteString("clusterName: large\nprovider: static\nendpoint: https://[fd00::ffff]:6443\nnodes:\n  controlPlane:\n" +
		"    nodes: [{name: one, match: {serial: s}, bootAddress: fd00::f000, installDisk: /dev/sda}]\n" +
		"  workers:\n    nodepools:\n    - name: w\n      installDisk: /dev/sda\n      nodes:\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "      - name: node-%d\n        match: {serial: s%d}\n        bootAddress: fd00::%x\n        labels: {a: b, c: d}\n", i, i, i)
	}
	for name, data := range map[string]string{"large": text.String(), "small": minimal("")} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Load(testFile, alone(data), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
