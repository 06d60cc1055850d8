// Package chartlock is charts/charts.lock: which charts and manifests from
// elsewhere the addons of a repository are made of, each with its digest, and
// where their bytes are. It is pure.
package chartlock

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
)

// Dir is the directory of the lock and of what is vendored, in a repository.
const Dir = "charts"

// File is the path of the lock in a repository.
const File = Dir + "/charts.lock"

// version of the format that is written, and the newest that is read.
const version = 1

// Reference names something from elsewhere: a chart, or a manifest.
type Reference struct {
	// Of a chart: its repository, name, and the version that was asked for, which
	// may be a range such as 1.20.x.
	Repository, Name, Version string
	// Of a manifest: its URL and, if whoever names it knows it, its digest in
	// hex.
	URL, SHA256 string
}

// String names it for people: cilium 1.20.0 of https://helm.cilium.io.
func (r Reference) String() string {
	if r.URL != "" {
		return r.URL
	}
	return fmt.Sprintf("%s %s of %s", r.Name, r.Version, r.Repository)
}

// OCI reports whether the chart is in a registry for images.
func (r Reference) OCI() bool { return strings.HasPrefix(r.Repository, "oci://") }

// same tells whether two references ask for the same, whatever digest they
// expect.
func (r Reference) same(other Reference) bool {
	r.SHA256, other.SHA256 = "", ""
	return r == other
}

// Entry is what a reference was resolved to.
type Entry struct {
	Reference
	// The version of the chart; that of the reference may be a range.
	Resolved string
	// The digest of the archive or of the manifest, in hex. It stands in SHA256
	// of the reference too if that had one.
	Digest string
	// The digest of the manifest in the registry, sha256:…; empty for others.
	Manifest string
}

// FileName is the name of the file in charts/ that holds the entry if it is
// vendored.
func (e Entry) FileName() string {
	if e.URL == "" {
		return fmt.Sprintf("%s-%s.tgz", e.Name, e.Resolved)
	}
	base := path.Base(e.URL)
	ext := path.Ext(base)
	return strings.TrimSuffix(base, ext) + "-" + e.Digest[:8] + ext
}

// Lock is the content of charts.lock.
type Lock struct {
	Entries []Entry
}

// Find returns the entry of a reference.
func (l *Lock) Find(r Reference) (Entry, bool) {
	for _, e := range l.Entries {
		if e.same(r) {
			return e, true
		}
	}
	return Entry{}, false
}

// file is the lock as it is written.
type file struct {
	Version   int            `yaml:"version"`
	Charts    []chartLine    `yaml:"charts,omitempty"`
	Manifests []manifestLine `yaml:"manifests,omitempty"`
}

type chartLine struct {
	Repository string `yaml:"repository"`
	Name       string `yaml:"name"`
	Wanted     string `yaml:"wanted,omitempty"` // if it is not the version
	Version    string `yaml:"version"`
	SHA256     string `yaml:"sha256"`
	Manifest   string `yaml:"manifest,omitempty"`
}

type manifestLine struct {
	URL    string `yaml:"url"`
	SHA256 string `yaml:"sha256"`
}

// Parse reads a lock.
func Parse(text []byte) (*Lock, error) {
	var f file
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, broken("not a lock of charts: %v", err)
	}
	if f.Version > version {
		return nil, broken("written by a newer talosgen").WithHint("this one reads version %d", version)
	}
	lock := &Lock{}
	for _, c := range f.Charts {
		e := Entry{Reference: Reference{Repository: c.Repository, Name: c.Name, Version: cmp.Or(c.Wanted, c.Version)}, Resolved: c.Version, Digest: c.SHA256, Manifest: c.Manifest}
		lock.Entries = append(lock.Entries, e)
	}
	for _, m := range f.Manifests {
		lock.Entries = append(lock.Entries, Entry{Reference: Reference{URL: m.URL}, Digest: m.SHA256})
	}
	return lock, lock.check()
}

func broken(format string, args ...any) *diag.Problem {
	return diag.New(diag.Pos{File: File}, format, args...).WithHint("`talosgen charts lock` writes it; it is not edited")
}

// check refuses what would make a name of a file that leads elsewhere, and
// files that would be one.
func (l *Lock) check() error {
	var problems diag.List
	names := map[string]Entry{}
	for _, e := range l.Entries {
		if digest, err := hex.DecodeString(e.Digest); err != nil || len(digest) != 32 {
			problems.Add(broken("%s: no SHA-256: %q", e.Reference, e.Digest))
			continue
		}
		name := e.FileName()
		if strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") {
			problems.Add(broken("%s: no name for a file: %q", e.Reference, name))
		}
		if other, taken := names[name]; taken && other.Digest != e.Digest {
			problems.Add(broken("%s and %s would both be the file %s", other.Reference, e.Reference, name).
				WithHint("charts of one name and version have to come from one repository; a copy in a directory of this one works too"))
		}
		names[name] = e
	}
	return problems.Err()
}

// Encode writes a lock: sorted, each entry once.
func (l *Lock) Encode() ([]byte, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	f := file{Version: version}
	sorted := slices.Clone(l.Entries)
	sorting.By(sorted, compare)
	for _, e := range slices.CompactFunc(sorted, func(a, b Entry) bool { return a.same(b.Reference) }) {
		if e.URL != "" {
			f.Manifests = append(f.Manifests, manifestLine{e.URL, e.Digest})
			continue
		}
		c := chartLine{Repository: e.Repository, Name: e.Name, Version: e.Resolved, SHA256: e.Digest, Manifest: e.Manifest}
		if e.Version != e.Resolved {
			c.Wanted = e.Version
		}
		f.Charts = append(f.Charts, c)
	}
	var b bytes.Buffer
	b.WriteString("# Written by talosgen charts lock. Commit it; do not edit it.\n")
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(f); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

func compare(a, b Entry) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version),
		strings.Compare(a.Repository, b.Repository), strings.Compare(a.URL, b.URL))
}
