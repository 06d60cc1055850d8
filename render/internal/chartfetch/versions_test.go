package chartfetch

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/charttest"
)

// The newest versions beside one, whatever the order and the kind of what is listed.
func TestNewer(t *testing.T) {
	listed := "1.0.0 sha256-0123.sig 1.10.0 1.9.0 2.0.0 2.1.0-rc.1 latest v1.10.1 0.9.0 3 1.10.0+build.5"
	for _, tt := range []struct{ current, versions, same, newest string }{
		{"1.0.0", listed, "v1.10.1", "2.0.0"},
		{"1.10.1", listed, "1.10.1", "2.0.0"},
		{"2.0.0", listed, "2.0.0", "2.0.0"},
		{"2.1.0-alpha.1", listed, "2.1.0-rc.1", "2.1.0-rc.1"},
		{"0.9.0", listed, "0.9.0", "2.0.0"},
		{"3.0.0", listed, "3.0.0", "3.0.0"}, // one that its repository has withdrawn
		{"1.0.0", "", "1.0.0", "1.0.0"},
	} {
		same, newest, err := Newer(tt.current, strings.Fields(tt.versions))
		if err != nil || same != tt.same || newest != tt.newest {
			t.Errorf("%s: %s, %s, %v; want %s, %s", tt.current, same, newest, err, tt.same, tt.newest)
		}
	}
	if _, _, err := Newer("no version", nil); err == nil {
		t.Error("no version is compared")
	}
}

func TestVersions(t *testing.T) {
	for _, oci := range []bool{false, true} {
		server := &charttest.Server{Charts: charts, PageSize: 1}
		f, at, _ := serve(t, server)
		got, err := f.Versions(t.Context(), reference(at, oci, "1.0.0"))
		slices.Sort(got)
		if want := "1.0.0 1.2.0 1.2.0+build.1 2.0.0-rc.1"; err != nil || strings.Join(got, " ") != want {
			t.Errorf("%v: %v, %v", oci, got, err)
		}
		absent := reference(at, oci, "1.0.0")
		absent.Name = "wbe"
		if got, err := f.Versions(t.Context(), absent); err == nil || len(got) > 0 {
			t.Errorf("%v: a chart that is not there has %v", oci, got)
		}
	}
}

// A list that cannot be had is an error, and no list of nothing.
func TestVersionsFail(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"refused":  func(w http.ResponseWriter) { http.Error(w, "no", http.StatusForbidden) },
		"broken":   func(w http.ResponseWriter) { http.Error(w, "no", http.StatusInternalServerError) },
		"no index": func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) },
		"endless": func(w http.ResponseWriter) {
			w.Header().Set("Link", `</v2/charts/web/tags/list>; rel="next"`)
			_, _ = w.Write([]byte(`{"tags": ["1.0.0"]}`))
		},
		"very large": func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, maxIndex+1)) },
	} {
		for _, oci := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				f, at, _ := serve(t, &charttest.Server{Charts: charts, Fault: func(w http.ResponseWriter, _ *http.Request) bool { answer(w); return true }})
				if got, err := f.Versions(t.Context(), reference(at, oci, "1.0.0")); err == nil {
					t.Errorf("%v: %v", oci, got)
				}
			})
		}
	}
	f, at, _ := serve(t, &charttest.Server{Charts: charts})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := f.Versions(ctx, reference(at, false, "1.0.0")); err == nil {
		t.Errorf("interrupted: %v", got)
	}
}
