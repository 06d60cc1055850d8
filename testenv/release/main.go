// Command release makes what package managers need to install a release: recipes for
// Homebrew, Scoop, Nix, Arch Linux and aqua (which mise reads too), and the control files of
// packages for Debian. Each names the digests of SHA256SUMS, so that a program which was
// exchanged later is not installed.
//
//	go run ./testenv/release -version 0.1.0 -sums dist/SHA256SUMS -out dist/packages
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	version := flag.String("version", "", "of the release, such as 0.1.0")
	sums := flag.String("sums", "dist/SHA256SUMS", "what sha256sum has printed of its programs")
	out := flag.String("out", "dist/packages", "the folder to write to")
	flag.Parse()
	if err := write(*version, *sums, *out); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func write(version, sums, out string) error {
	text, err := os.ReadFile(sums)
	if err != nil {
		return err
	}
	digests, err := parseSums(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", sums, err)
	}
	files, err := packages(version, digests)
	if err != nil {
		return err
	}
	for _, f := range files {
		name := filepath.Join(out, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
