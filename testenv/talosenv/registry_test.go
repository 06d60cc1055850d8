//go:build linux

package talosenv

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
)

// TestRegistry pulls an image as containerd does, and checks every digest.
func TestRegistry(t *testing.T) {
	program := filepath.Join(t.TempDir(), "etcd")
	writeFile(t, program, "a program")

	r := newRegistry(t, map[string]image{
		"etcd": {{path: "usr/local/bin/etcd", file: program}, {path: "usr/local/bin/etcdctl", link: "etcd"}, {path: "tmp"}, {path: "etc/group", text: "root"}},
	})

	get(t, http.MethodGet, r.url+"/v2/", http.StatusOK)

	head := get(t, http.MethodHead, r.url+"/v2/etcd/manifests/v3.6.12?ns=registry.k8s.io", http.StatusOK)
	digest := head.header.Get("Docker-Content-Digest")

	var manifest struct {
		Config struct{ Digest string }
		Layers []struct{ Digest string }
	}

	decode(t, get(t, http.MethodGet, r.url+"/v2/etcd/manifests/"+digest, http.StatusOK).checked(t, digest), &manifest)

	var config struct {
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}

	decode(t, get(t, http.MethodGet, r.url+"/v2/etcd/blobs/"+manifest.Config.Digest, http.StatusOK).
		checked(t, manifest.Config.Digest), &config)

	layer := manifest.Layers[0].Digest
	if got := config.RootFS.DiffIDs; !slices.Equal(got, []string{layer}) {
		t.Errorf("layers %q, want %s", got, layer)
	}

	want := []string{"usr/", "usr/local/", "usr/local/bin/", "usr/local/bin/etcd", "usr/local/bin/etcdctl", "tmp/", "etc/", "etc/group"}
	if got := entries(t, get(t, http.MethodGet, r.url+"/v2/etcd/blobs/"+layer, http.StatusOK).checked(t, layer)); !slices.Equal(got, want) {
		t.Errorf("the layer has %q, want %q", got, want)
	}

	get(t, http.MethodGet, r.url+"/v2/other/manifests/latest", http.StatusNotFound)
	get(t, http.MethodGet, r.url+"/v2/etcd/blobs/sha256:00", http.StatusNotFound)
}

// TestRegistryTags: an image with tags has these only, and each is another one.
func TestRegistryTags(t *testing.T) {
	r := newRegistry(t, map[string]image{"kubelet:v1.36.4": {{path: "old"}}, "kubelet:v1.37.1": {{path: "new"}}, "pause": {{path: "pause"}}})
	digest := func(image string) string {
		return get(t, http.MethodHead, r.url+"/v2/"+image, http.StatusOK).header.Get("Docker-Content-Digest")
	}

	old, next := digest("siderolabs/kubelet/manifests/v1.36.4"), digest("siderolabs/kubelet/manifests/v1.37.1")
	if old == next {
		t.Error("two tags are one image")
	}

	get(t, http.MethodGet, r.url+"/v2/siderolabs/kubelet/manifests/"+old, http.StatusOK).checked(t, old)
	get(t, http.MethodGet, r.url+"/v2/siderolabs/kubelet/manifests/v1.37.0", http.StatusNotFound)

	if digest("pause/manifests/3.9") != digest("pause/manifests/3.10") {
		t.Error("an image without tags is not the same under any")
	}
}

func newRegistry(t *testing.T, images map[string]image) *registry {
	t.Helper()

	r, err := startRegistry(netip.MustParseAddr("127.0.0.1"), images)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})

	return r
}

// answer is an HTTP response.
type answer struct {
	header http.Header
	body   []byte
}

func get(t *testing.T, method, url string, status int) answer {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}

	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()

	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}

	if response.StatusCode != status {
		t.Fatalf("%s: %s, want %d", url, response.Status, status)
	}

	return answer{header: response.Header, body: body}
}

// checked returns the body if it has the digest.
func (a answer) checked(t *testing.T, digest string) []byte {
	t.Helper()

	sum := sha256.Sum256(a.body)
	if got := "sha256:" + hex.EncodeToString(sum[:]); got != digest {
		t.Errorf("digest %s, want %s", got, digest)
	}

	return a.body
}

func decode(t *testing.T, data []byte, to any) {
	t.Helper()

	if err := json.Unmarshal(data, to); err != nil {
		t.Fatal(err)
	}
}

// entries are the names in an archive.
func entries(t *testing.T, data []byte) (names []string) {
	t.Helper()

	archive := tar.NewReader(bytes.NewReader(data))

	for {
		header, err := archive.Next()
		if err == io.EOF {
			return names
		}

		if err != nil {
			t.Fatal(err)
		}

		names = append(names, header.Name)
	}
}
