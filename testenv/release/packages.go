package main

import (
	"bytes"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

// platforms have a program in each release.
var platforms = []string{"darwin-amd64", "darwin-arm64", "linux-amd64", "linux-arm64", "windows-amd64", "windows-arm64"}

// program is what the file of a platform is called.
func program(platform string) string {
	if strings.HasPrefix(platform, "windows-") {
		return "talosgen-" + platform + ".exe"
	}
	return "talosgen-" + platform
}

// file is one that a package manager reads.
type file struct {
	name string
	text []byte
}

// recipes are templates; << >> encloses what a release fills in.
//
//go:embed recipes
var recipes embed.FS

// sumLine is what sha256sum prints of a file.
var sumLine = regexp.MustCompile(`^([0-9a-f]{64}) [ *](talosgen-[a-z]+-[a-z0-9]+(?:\.exe)?)$`)

// parseSums reads the digests of programs, by name. Each platform has one.
func parseSums(text string) (map[string]string, error) {
	digests := map[string]string{}
	for line := range strings.Lines(text) {
		m := sumLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			return nil, fmt.Errorf("not a line of sha256sum for a program: %q", line)
		}
		digests[m[2]] = m[1]
	}
	for _, p := range platforms {
		if digests[program(p)] == "" {
			return nil, fmt.Errorf("%s is missing: make all of them with .ci/run release", program(p))
		}
	}
	return digests, nil
}

// number is a version without v.
var number = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

// packages makes the files of a release from the digests of its programs.
func packages(version string, digests map[string]string) (files []file, err error) {
	if !number.MatchString(version) {
		return nil, errors.New("-version is a version without v, such as 0.1.0")
	}
	if missing := slices.DeleteFunc(slices.Clone(platforms), func(p string) bool { return digests[program(p)] != "" }); len(missing) > 0 {
		return nil, fmt.Errorf("no digests of %s", strings.Join(missing, ", "))
	}
	functions := template.FuncMap{
		"url": func(platform string) string {
			return fmt.Sprintf("https://github.com/talosgen/talosgen/releases/download/v%s/%s", version, program(platform))
		},
		"sha256": func(platform string) string { return digests[program(platform)] },
		"sri":    func(platform string) (string, error) { return sri(digests[program(platform)]) },
		// Versions of Arch Linux and Debian have no hyphen, or sort it otherwise.
		"arch":   func() string { return strings.ReplaceAll(version, "-", "_") },
		"debian": func() string { return strings.ReplaceAll(version, "-", "~") },
	}
	err = fs.WalkDir(recipes, "recipes", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		recipe, err := template.New(d.Name()).Delims("<<", ">>").Funcs(functions).ParseFS(recipes, path)
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if err := recipe.Execute(&text, struct{ Version string }{version}); err != nil {
			return err
		}
		files = append(files, file{strings.TrimPrefix(path, "recipes/"), text.Bytes()})
		return nil
	})
	return files, err
}

// sri is a digest as Nix and browsers write it.
func sri(digest string) (string, error) {
	raw, err := hex.DecodeString(digest)
	return "sha256-" + base64.StdEncoding.EncodeToString(raw), err
}
