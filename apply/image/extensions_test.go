package image

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/schemas"
)

const schematicText = "customization:\n    extraKernelArgs: [quiet]\n    systemExtensions:\n        officialExtensions:\n            - siderolabs/iscsi-tools\n            - siderolabs/qemu-guest-agent\n"

// Which lists of the Image Factory are to be asked for: each once, and none of an
// image that does not come from there, or has no extensions.
func TestExtensionsOf(t *testing.T) {
	image := func(arch, url, schematic string) schemas.InfraSnapshot {
		return schemas.InfraSnapshot{Architecture: arch, URL: url, Schematic: schematic}
	}
	const at = "https://factory.example.com:8443/talos/image/3765ab/v1.14.1/hcloud-"
	x86, arm := image("x86", at+"amd64.raw.xz", schematicText), image("arm", at+"arm64.raw.xz", schematicText)
	const list = "https://factory.example.com:8443/talos/version/v1.14.1/extensions/official"
	for _, tt := range []struct {
		name    string
		mirrors []string
		images  []schemas.InfraSnapshot
		want    string
	}{
		{"of both architectures", nil, []schemas.InfraSnapshot{x86, arm}, list},
		{"from a mirror", []string{"https://mirror.example.com/{path}"}, []schemas.InfraSnapshot{x86, arm}, ""},
		{"one of them from a mirror", []string{"arm64=https://mirror.example.com/{path}"}, []schemas.InfraSnapshot{arm, x86}, list},
		{"without extensions", nil, []schemas.InfraSnapshot{image("x86", at+"amd64.raw.xz", "customization: {}\n")}, ""},
		{"by the id of a schematic", nil, []schemas.InfraSnapshot{image("x86", at+"amd64.raw.xz", "")}, ""},
		{"elsewhere", nil, []schemas.InfraSnapshot{image("x86", "https://example.com/talos.raw.xz", schematicText)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := ParseMirrors(tt.mirrors)
			if err != nil {
				t.Fatal(err)
			}
			var urls []string
			for _, e := range m.Extensions(tt.images) {
				urls = append(urls, e.URL)
				if e.Talos != "v1.14.1" || !slices.Equal(e.Names, []string{"siderolabs/iscsi-tools", "siderolabs/qemu-guest-agent"}) {
					t.Errorf("%+v", e)
				}
			}
			if got := strings.Join(urls, " "); got != tt.want {
				t.Errorf("asks %q, want %q", got, tt.want)
			}
		})
	}
}

// What an Image Factory answers: its list, as version 1.4 writes it, and what
// stands between it and here.
func TestOfficial(t *testing.T) {
	const whole = `[{"name":"siderolabs/amd-ucode","ref":"ghcr.io/siderolabs/amd-ucode:20260410","digest":"sha256:761a5290a4bae9ceca11468d2ba8ca7b0f94e6e3a107ede2349ae26520682832","author":"Sidero Labs","description":"AMD microcode"},` +
		`{"name":"siderolabs/iscsi-tools","ref":"ghcr.io/siderolabs/iscsi-tools:v0.2.0","digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}]`
	for _, tt := range []struct {
		name, body string
		status     int
		want, err  string
	}{
		{"a list", whole, 200, "siderolabs/amd-ucode siderolabs/iscsi-tools", ""},
		{"names that no extension has", `[{"name":"a b\u001b[31m"},{"name":"siderolabs/x"}]`, 200, "siderolabs/x", ""},
		{"a version that it does not have", "not found", 404, "", "/version/v1.14.1/extensions/official: 404 Not Found"},
		{"somebody else's page", "<html>", 200, "", "the answer is no list of extensions"},
		{"nothing", "[]", 200, "", "the list is empty"},
		{"without end", strings.Repeat(" ", longestList+1), 200, "", "the answer is too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.Method + " " + r.URL.Path + " " + r.UserAgent()
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer server.Close()
			names, err := Official(t.Context(), http.DefaultTransport, server.URL+"/version/v1.14.1/extensions/official", "talosgen/test")
			if got := strings.Join(names, " "); got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.HasSuffix(err.Error(), tt.err) {
				t.Errorf("%q, %v; want %q, %q", got, err, tt.want, tt.err)
			}
			if asked != "GET /version/v1.14.1/extensions/official talosgen/test" {
				t.Errorf("asked %s", asked)
			}
		})
	}
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	if _, err := Official(t.Context(), http.DefaultTransport, server.URL, "x"); err == nil {
		t.Error("nobody answers, and that is no error")
	}
}
