package chartlock

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

var (
	digestA = Digest([]byte("a"))
	digestB = Digest([]byte("b"))

	cilium  = Reference{Repository: "https://helm.cilium.io", Name: "cilium", Version: "1.20.x"}
	podinfo = Reference{Repository: "oci://ghcr.io/stefanprodan/charts", Name: "podinfo", Version: "6.9.0"}
	gateway = Reference{URL: "https://example.com/v1/install.yaml"}
)

func sample() *Lock {
	return &Lock{Entries: []Entry{
		{Reference: podinfo, Resolved: "6.9.0", Digest: digestB, Manifest: "sha256:" + digestA},
		{Reference: gateway, Digest: digestA},
		{Reference: cilium, Resolved: "1.20.3", Digest: digestA},
		{Reference: gateway, Digest: digestA},
	}}
}

const sampleText = `# Written by talosgen charts lock. Commit it; do not edit it.
version: 1
charts:
  - repository: https://helm.cilium.io
    name: cilium
    wanted: 1.20.x
    version: 1.20.3
    sha256: ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb
  - repository: oci://ghcr.io/stefanprodan/charts
    name: podinfo
    version: 6.9.0
    sha256: 3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d
    manifest: sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb
manifests:
  - url: https://example.com/v1/install.yaml
    sha256: ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb
`

func TestEncode(t *testing.T) {
	text, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != sampleText {
		t.Errorf("got\n%s", text)
	}
	again, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Reference{cilium, podinfo, gateway} {
		want, _ := sample().Find(r)
		if got, found := again.Find(r); !found || got != want {
			t.Errorf("%s: %+v, want %+v", r, got, want)
		}
	}
	if _, found := again.Find(Reference{Repository: cilium.Repository, Name: "cilium", Version: "1.20.3"}); found {
		t.Error("a version that nobody asked for is found")
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no YAML", "a: [", "not a lock of charts"},
		{"another key", "version: 1\nextra: 1\n", "not a lock of charts"},
		{"newer", "version: 2\n", "written by a newer talosgen"},
		{"no digest", "version: 1\nmanifests: [{url: https://example.com/a.yaml, sha256: abc}]\n", `no SHA-256: "abc"`},
		{"name that leads elsewhere", "version: 1\ncharts: [{repository: x, name: ../../evil, version: 1.0.0, sha256: " + digestA + "}]\n", "no name for a file"},
		{"hidden name", "version: 1\ncharts: [{repository: x, name: .git, version: 1.0.0, sha256: " + digestA + "}]\n", "no name for a file"},
		{"one name for two", "version: 1\ncharts: [{repository: x, name: a, version: 1.0.0, sha256: " + digestA + "}, {repository: y, name: a, version: 1.0.0, sha256: " + digestB + "}]\n", "would both be the file a-1.0.0.tgz"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "charts/charts.lock: ") {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	if lock, err := Parse(nil); err != nil || len(lock.Entries) != 0 {
		t.Errorf("an empty file: %v, %v", lock, err)
	}
}

func TestArtifact(t *testing.T) {
	pinned := gateway
	pinned.SHA256 = digestB
	elsewhere := Reference{URL: "https://example.com/other.yaml", SHA256: digestB}
	for _, tt := range []struct {
		name      string
		reference Reference
		file      string // in charts/, with its content behind =
		cached    string
		data      string
		want      string // of the error
	}{
		{name: "vendored", reference: cilium, file: "cilium-1.20.3.tgz=a", data: "a"},
		{name: "vendored manifest", reference: gateway, file: "install-ca978112.yaml=a", data: "a"},
		{name: "cached", reference: podinfo, cached: "b", data: "b"},
		{name: "vendored goes before cached", reference: cilium, file: "cilium-1.20.3.tgz=a", cached: "broken", data: "a"},
		{name: "nowhere", reference: cilium, want: "charts/cilium-1.20.3.tgz: cilium 1.20.x of https://helm.cilium.io is neither in charts/ nor in the cache"},
		{name: "changed", reference: cilium, file: "cilium-1.20.3.tgz=b", want: "charts/cilium-1.20.3.tgz: is not what charts/charts.lock pins"},
		{name: "changed in the cache", reference: cilium, cached: "b", want: "cilium-1.20.3.tgz (in the cache): is not what charts/charts.lock pins"},
		{name: "not locked", reference: Reference{Repository: "x", Name: "y", Version: "1"}, want: "charts/charts.lock: has no y 1 of x"},
		{name: "locked, and pinned otherwise", reference: pinned, file: "install-ca978112.yaml=a", want: "has the digest " + digestA + " there, and " + digestB},
		{name: "pinned without a lock", reference: elsewhere, cached: "b", data: "b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := fstest.MapFS{}
			if name, text, found := strings.Cut(tt.file, "="); found {
				files["charts/"+name] = &fstest.MapFile{Data: []byte(text)}
			}
			store := Store{Lock: sample(), Files: files, Cache: func(string) ([]byte, error) {
				if tt.cached == "" {
					return nil, fs.ErrNotExist
				}
				return []byte(tt.cached), nil
			}}
			a, err := store.Artifact(tt.reference)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want == "" && string(a.Data) != tt.data:
				t.Errorf("%s, want %s", a.Data, tt.data)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

func TestNoLock(t *testing.T) {
	store := Store{Files: fstest.MapFS{}}
	if _, err := store.Artifact(cilium); err == nil || !strings.Contains(err.Error(), "talosgen charts lock") {
		t.Error(err)
	}
	if _, err := store.Find(Entry{Reference: cilium, Resolved: "1.20.3", Digest: digestA}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
