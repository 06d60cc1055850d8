package addon

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/talosgen/talosgen/render/internal/catalogue"
)

// entry is an entry of an archive; a plain file if it has no type.
type entry struct {
	name, text string
	kind       byte
	link       string
}

const chartYAML = "{apiVersion: v2, name: a, version: 1.0.0}"

func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, e := range entries {
		head := &tar.Header{Name: e.name, Size: int64(len(e.text)), Mode: 0o644, Typeflag: e.kind, Linkname: e.link}
		if e.kind == 0 {
			head.Typeflag = tar.TypeReg
		}
		if err := w.WriteHeader(head); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// renderArchive renders a chart that is an archive in the repository.
func renderArchive(t *testing.T, data []byte) (Result, error) {
	t.Helper()
	engine := Engine{Repository: fstest.MapFS{"a.tgz": {Data: data}}, Kubernetes: "1.37.1"}
	a := catalogue.Addon{Name: "a", Origin: "addons.a", Source: &catalogue.Source{Chart: &catalogue.Chart{Path: "a.tgz"}}}
	return engine.Render(t.Context(), a, nil)
}

func configMap(name string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}}"
}

func TestArchive(t *testing.T) {
	inner := pack(t, entry{name: "sub/Chart.yaml", text: "{apiVersion: v2, name: sub, version: 1.0.0}"}, entry{name: "sub/templates/b.yaml", text: configMap("b")})
	result, err := renderArchive(t, pack(t,
		entry{name: "a/", kind: tar.TypeDir},
		entry{name: "a/Chart.yaml", text: "\xEF\xBB\xBF" + chartYAML},
		entry{name: "./a/templates/a.yaml", text: configMap("a")},
		entry{name: "a/charts/sub-1.0.0.tgz", text: string(inner)},
		entry{name: "a/charts/_ignored.tgz", text: "no archive"},
	))
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Objects) != 2 || result.Objects[0].Name() != "a" || result.Objects[1].Name() != "b" {
		t.Errorf("%v", result.Objects)
	}
}

// TestArchiveHostile: archives that would reach out of themselves, or fill the
// memory.
func TestArchiveHostile(t *testing.T) {
	chart := entry{name: "a/Chart.yaml", text: chartYAML}
	large := strings.Repeat("\x00", maxChartBytes/4)
	nested := pack(t, entry{name: "b/values.txt", text: large}, entry{name: "b/Chart.yaml", text: "{apiVersion: v2, name: b, version: 1.0.0}"})
	many := make([]entry, maxChartFiles+1)
	for i := range many {
		many[i] = entry{name: "a/x"}
	}
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"link", pack(t, chart, entry{name: "a/templates/x.yaml", kind: tar.TypeSymlink, link: "/etc/passwd"}), `"a/templates/x.yaml", which is no plain file`},
		{"hard link", pack(t, chart, entry{name: "a/x", kind: tar.TypeLink, link: "a/Chart.yaml"}), "no plain file"},
		{"device", pack(t, chart, entry{name: "a/x", kind: tar.TypeChar}), "no plain file"},
		{"out of it", pack(t, chart, entry{name: "a/../../x"}), `"a/../../x": not a path within the chart`},
		{"dots at the front", pack(t, chart, entry{name: "../x"}), "not a path within the chart"},
		{"absolute", pack(t, chart, entry{name: "/etc/passwd"}), "not a path within the chart"},
		{"backslashes", pack(t, chart, entry{name: `a\..\..\x`}), "not a path within the chart"},
		{"drive", pack(t, chart, entry{name: "a/c:/x"}), "not a path within the chart"},
		{"no directory", pack(t, entry{name: "Chart.yaml", text: chartYAML}), "not in the directory of the chart"},
		{"large", pack(t, chart, entry{name: "a/1", text: large}, entry{name: "a/2", text: large}, entry{name: "a/3", text: large}, entry{name: "a/4", text: large}), "more than 64 MiB"},
		{"archives in it", pack(t, chart, entry{name: "a/charts/1.tgz", text: string(nested)}, entry{name: "a/charts/2.tgz", text: string(nested)},
			entry{name: "a/charts/3.tgz", text: string(nested)}, entry{name: "a/charts/4.tgz", text: string(nested)}), "more than 64 MiB"},
		{"many files", pack(t, many...), "more than 10000 files"},
		{"empty", pack(t), "is an empty archive"},
		{"cut off", pack(t, chart)[:60], "cannot be unpacked"},
		{"no chart", pack(t, entry{name: "a/x"}), "Chart.yaml file is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := renderArchive(t, tt.data)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "a.tgz: ") {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// TestDirectoryLinks: a link in a chart that is a directory is an error, not
// another way out.
func TestDirectoryLinks(t *testing.T) {
	repository := fstest.MapFS{
		"a/Chart.yaml":       {Data: []byte(chartYAML)},
		"a/templates/a.yaml": {Data: []byte("../../secret"), Mode: fs.ModeSymlink | 0o777},
	}
	engine := Engine{Repository: repository, Kubernetes: "1.37.1"}
	a := catalogue.Addon{Name: "a", Source: &catalogue.Source{Chart: &catalogue.Chart{Path: "a"}}}
	_, err := engine.Render(t.Context(), a, nil)
	if err == nil || !strings.Contains(err.Error(), "a/templates/a.yaml: not a plain file") {
		t.Error(err)
	}
}
