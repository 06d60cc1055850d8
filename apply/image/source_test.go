package image

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/schemas"
)

func TestMirrors(t *testing.T) {
	want := schemas.InfraSnapshot{Architecture: "arm", URL: "https://factory.talos.dev/image/3765/v1.14.1/hcloud-arm64.raw.xz"}
	digest := strings.Repeat("0a", 32)
	for _, tt := range []struct{ flags, want string }{
		{"", want.URL},
		{"https://m.example.com/{path}", "https://m.example.com/image/3765/v1.14.1/hcloud-arm64.raw.xz"},
		{"https://m.example.com/talos-{arch}.raw", "https://m.example.com/talos-arm64.raw"},
		{"https://m.example.com/a.raw arm64=http://m.example.com/b.raw?x=1", "http://m.example.com/b.raw?x=1"},
		{"amd64=https://m.example.com/a.raw", want.URL},
		{"https://m.example.com/a.raw#sha256=" + digest, "https://m.example.com/a.raw " + digest},
		{"https://m.example.com/a.raw#sha256=12", "the part after #"},
		{"https://m.example.com/a.raw#x", "the part after #"},
		{"ftp://m.example.com/a.raw", "is not the URL of an image"},
		{"a.raw", "is not the URL of an image"},
		{"https://a.example.com/a.raw https://b.example.com/b.raw", "is a second one"},
		{"https://me:qzxkanarivogl95@m.example.com/a.raw", "a URL with a password in it"},
	} {
		m, err := ParseMirrors(strings.Fields(tt.flags))
		s := m.Source(want)
		got := strings.TrimSpace(s.URL + " " + s.SHA256)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tt.want) || strings.Contains(got, "qzxkanarivogl95") {
			t.Errorf("%s: %s, want %s", tt.flags, got, tt.want)
		}
	}
}

func TestMirrorsCheck(t *testing.T) {
	wanted := []schemas.InfraSnapshot{{Architecture: "x86", URL: "https://f/amd64"}, {Architecture: "arm", URL: "https://f/arm64"}}
	for link, fits := range map[string]bool{"https://m/{arch}": true, "https://m/{path}": true, "arm64=https://m/a": true, "https://m/a": false} {
		m, err := ParseMirrors([]string{link})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Check(wanted); (err == nil) != fits {
			t.Errorf("%s: %v", link, err)
		}
	}
}

func TestBuilderName(t *testing.T) {
	for _, tt := range []struct {
		labels map[string]string
		want   string
	}{
		{map[string]string{"talos_version": "v1.14.1-beta.0", "talos_schematic_id": "376567988ad370138ad8b2698212367b"}, "talosgen-image-v1-14-1-beta-0-376567988ad37013-arm64"},
		{nil, "talosgen-image-arm64"},
	} {
		if got := builderName(schemas.InfraSnapshot{Labels: tt.labels, Architecture: "arm"}); got != tt.want || len(got) > 63 {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}
