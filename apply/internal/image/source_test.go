package image

import (
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
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

func TestQuote(t *testing.T) {
	if got := quote("it's $HOME"); got != `'it'\''s $HOME'` {
		t.Error(got)
	}
}

func TestCandidates(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	serverType := func(name, arch string, disk int, price string, at ...plan.TypeLocation) plan.ServerType {
		return plan.ServerType{Name: name, Architecture: arch, Disk: disk, Locations: at,
			Prices: []plan.TypePrice{{Monthly: plan.Price{Net: price}}}}
	}
	here := plan.TypeLocation{Name: "nbg1", Available: true}
	sold := plan.Catalogue{ServerTypes: []plan.ServerType{
		serverType("large", "x86", 160, "3", here),
		serverType("dear", "x86", 40, "9", here, plan.TypeLocation{Name: "fsn1"}),
		serverType("cheap", "x86", 40, "10.5", here, plan.TypeLocation{Name: "ash", Available: true, UnavailableAfter: now.Add(-time.Hour)}),
		serverType("middle", "x86", 80, "1", here), serverType("other", "arm", 20, "1", here),
	}}
	infra := schemas.Infrastructure{
		Servers: []schemas.InfraServer{{Types: []string{"middle", "large"}, Image: schemas.InfraImage{Selector: "s", Architecture: "x86"}}},
		AutoscalerPools: []schemas.InfraAutoscalerPool{{Type: "large", Image: schemas.InfraImage{Selector: "s", Architecture: "x86"}},
			{Type: "dear", Image: schemas.InfraImage{Selector: "another", Architecture: "x86"}}},
	}
	for asked, expected := range map[string]string{
		"middle@nbg1": "middle@nbg1 dear@nbg1 cheap@nbg1", // as asked, then the smallest, then the cheapest
		"dear@fsn1":   "dear@fsn1 dear@nbg1 cheap@nbg1 middle@nbg1",
		"large@nbg1":  "dear@nbg1 cheap@nbg1 middle@nbg1", // middle could not start from its disk
		"cheap@ash":   "dear@nbg1 cheap@nbg1 middle@nbg1", // not sold any more
		"other@nbg1":  "dear@nbg1 cheap@nbg1 middle@nbg1", // another architecture
		"gone@nbg1":   "dear@nbg1 cheap@nbg1 middle@nbg1",
	} {
		name, location, _ := strings.Cut(asked, "@")
		want := schemas.InfraSnapshot{Architecture: "x86", Selector: "s", BuilderType: name, BuilderLocation: location}
		most := SmallestDisk(sold, infra, want)
		var got []string
		for _, c := range Candidates(sold, want, most, now) {
			got = append(got, c.Type+"@"+c.Location)
		}
		if text := strings.Join(got, " "); most != 80 || text != expected {
			t.Errorf("%s, at most %d GB: %s, want %s", asked, most, text, expected)
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
