package apply

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/internal/diag"
)

// factory stands in for the Image Factory at factory.test.
type factory struct {
	asked []string
	fails error
}

func (f *factory) RoundTrip(r *http.Request) (*http.Response, error) {
	f.asked = append(f.asked, r.URL.String())
	if f.fails != nil {
		return nil, f.fails
	}
	w := httptest.NewRecorder()
	if r.URL.Path == "/version/v1.14.1/extensions/official" {
		_, _ = w.WriteString(`[{"name":"siderolabs/iscsi-tools","ref":"ghcr.io/siderolabs/iscsi-tools:v0.2.0","digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}]`)
	} else {
		w.WriteHeader(http.StatusNotFound)
	}
	return w.Result(), nil
}

// withExtension makes the images of talosInfrastructure have an extension.
func withExtension(name string) string {
	return strings.ReplaceAll(talosInfrastructure, "     labels: {os: talos,",
		`     schematic: "customization: {systemExtensions: {officialExtensions: [`+name+`]}}", labels: {os: talos,`)
}

// An extension that the Image Factory does not have is told before the first
// server is made to build an image; where nobody answers, it is only a warning.
func TestExtensionsAreAskedFor(t *testing.T) {
	for _, tt := range []struct {
		name, extension string
		fails           error
		state           string // of the finding; empty if there is none
		text, hint      string
	}{
		{"one that is there", "siderolabs/iscsi-tools", nil, "", "", ""},
		{"mistyped", "siderolabs/iscsi-tols", nil, "failed", "the Image Factory has no extension siderolabs/iscsi-tols for Talos v1.14.1", `did you mean "siderolabs/iscsi-tools"? Correct talos.extensions in cluster.yaml`},
		{"unlike any", "example/zzz", nil, "failed", "the Image Factory has no extension example/zzz for Talos v1.14.1", "lists those that it has: https://factory.test/version/v1.14.1/extensions/official"},
		{"nobody answers", "siderolabs/iscsi-tols", errors.New("no route to host"), "warning", "is not known: GET https://factory.test/version/v1.14.1/extensions/official: no route to host", "apply goes on"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newImageBench(t)
			b.render(withExtension(tt.extension))
			s, f := b.session(), &factory{fails: tt.fails}
			s.images.with.Factory = f
			found, err := s.Check(t.Context(), b.plan(s, Policy{}), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(f.asked) != 1 {
				t.Errorf("asked %q: two architectures have one list", f.asked)
			}
			var about preflight.Finding
			for _, x := range found {
				if x.Check == "images" && x.State != preflight.OK {
					about = x
				}
			}
			if string(about.State) != tt.state || !strings.HasSuffix(about.Text, tt.text) || !strings.Contains(about.Hint, tt.hint) {
				t.Errorf("found %+v", about)
			}
			if err := preflight.Failures(found); (err != nil) != (tt.state == "failed") {
				t.Errorf("error (%d) %v", diag.CodeOf(err), err)
			}
			if got := s.CheckImages(t.Context(), s.env.Infrastructure.Images); preflight.Text(got) != preflight.Text(nil) && tt.state == "" || len(got) == 0 && tt.state != "" {
				t.Errorf("for image build: %+v", got)
			}
		})
	}
}

// Nobody asks the Image Factory when every image is there, or comes from elsewhere.
func TestExtensionsAreNotAskedFor(t *testing.T) {
	b := newImageBench(t)
	b.render(withExtension("siderolabs/iscsi-tols"))
	f := &factory{}
	s := b.session("https://mirror.test/{path}")
	s.images.with.Factory = f
	if _, err := s.Check(t.Context(), b.plan(s, Policy{}), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), b.plan(s, Policy{}), Policy{}, Owner{Name: "ann@desk", Run: "1"}); err != nil {
		t.Fatal(err)
	}
	s = b.session()
	s.images.with.Factory = f
	if _, err := s.Check(t.Context(), b.plan(s, Policy{}), nil); err != nil || len(f.asked) > 0 {
		t.Errorf("asked %q, %v", f.asked, err)
	}
}
