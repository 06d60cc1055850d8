package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata again")

// sums are digests of programs, each of another letter.
func sums() string {
	var text strings.Builder
	for i, p := range platforms {
		text.WriteString(strings.Repeat(string("abcdef"[i]), 64) + "  " + program(p) + "\n")
	}
	return text.String()
}

func TestPackages(t *testing.T) {
	digests, err := parseSums(sums())
	if err != nil {
		t.Fatal(err)
	}
	files, err := packages("1.2.3-rc.1", digests)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		golden := filepath.Join("testdata", filepath.FromSlash(f.name))
		if *update {
			if err := errors.Join(os.MkdirAll(filepath.Dir(golden), 0o755), os.WriteFile(golden, f.text, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if string(f.text) != string(want) {
			t.Errorf("%s differs: run with -update, and review with git diff", golden)
		}
	}
}

func TestRefused(t *testing.T) {
	complete := sums()
	for _, c := range []struct{ name, version, sums, want string }{
		{"no version", "", complete, "without v"},
		{"a version with v", "v1.2.3", complete, "without v"},
		{"a version that ends a string", `1.2.3"`, complete, "without v"},
		{"a platform is missing", "1.2.3", strings.Replace(complete, "darwin-arm64", "darwin-riscv", 1), "talosgen-darwin-arm64 is missing"},
		{"no program for Windows", "1.2.3", strings.ReplaceAll(complete, ".exe", ""), "talosgen-windows-amd64.exe is missing"},
		{"a digest is cut off", "1.2.3", complete[1:], "not a line of sha256sum"},
		{"nothing", "1.2.3", "", "talosgen-darwin-amd64 is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			digests, err := parseSums(c.sums)
			if err == nil {
				_, err = packages(c.version, digests)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestShells: what shells read of the recipes is as they want it.
func TestShells(t *testing.T) {
	digests, err := parseSums(sums())
	if err != nil {
		t.Fatal(err)
	}
	files, err := packages("1.2.3", digests)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.name != "arch/PKGBUILD" {
			continue
		}
		name := filepath.Join(t.TempDir(), "PKGBUILD")
		if err := os.WriteFile(name, f.text, 0o644); err != nil {
			t.Fatal(err)
		}
		output, err := exec.Command("bash", "-uc", `. "$1"; echo "$pkgver ${source_x86_64[0]} ${sha256sums_aarch64[0]}"; declare -f package >/dev/null`, "-", name).CombinedOutput()
		want := "1.2.3 talosgen-1.2.3::https://github.com/talosgen/talosgen/releases/download/v1.2.3/talosgen-linux-amd64 " + strings.Repeat("d", 64) + "\n"
		if err != nil || string(output) != want {
			t.Errorf("got %q, %v; want %q", output, err, want)
		}
		return
	}
	t.Error("there is no PKGBUILD")
}
