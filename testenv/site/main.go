// Command site makes the documentation site of this repository, from docs/:
//
//	go -C testenv/site run . -releases
//
// It is files alone: a web server serves them, and a browser opens them from a disk.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/talosgen/talosgen/testenv/site/book"
	"github.com/talosgen/talosgen/testenv/site/pages"
)

// source is where the files of the repository can be read, by a branch or tag.
const source = "https://github.com/talosgen/talosgen/blob/%s/"

const branch = "main"

func main() {
	repository := flag.String("repository", "../..", "the repository whose docs/ is read")
	out := flag.String("out", "../../dist/site", "the folder that is written to, a folder in it for each version")
	releases := flag.Bool("releases", false, "also the pages of each release, from the repository's tags")
	flag.Parse()
	if err := run(*repository, *out, *releases, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(repository, out string, releases bool, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("what is %q? There are flags only", args[0])
	}
	if err := build(repository, out, branch, branch); err != nil {
		return err
	}
	if releases {
		if err := buildReleases(repository, out); err != nil {
			return err
		}
	}
	index, err := filepath.Abs(filepath.Join(out, "index.html"))
	fmt.Println(index)
	return err
}

// build makes the site of one version, from the repository as it is at ref.
func build(repository, out, version, ref string) error {
	at := fmt.Sprintf(source, ref)
	b, err := book.Read(repository, at)
	if err != nil {
		return errors.Join(fmt.Errorf("the pages of %s:", version), err)
	}
	return pages.Site{Book: b, Version: version, Repository: repository, Source: at}.Write(out)
}
