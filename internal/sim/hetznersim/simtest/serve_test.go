package simtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// failing notes what a test would fail with.
type failing struct {
	testing.TB
	said []string
}

func (f *failing) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

// TestViolationsFail: a test fails when an answer lacks something, or when a
// request was accepted that should not be, and passes what is right.
func TestViolationsFail(t *testing.T) {
	all, err := theShapes()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := description()
	if err != nil {
		t.Fatal(err)
	}
	const group = `{"placement_group": {"id": 1, "name": "a", "labels": {}, "type": "spread", "created": "2026-11-01T00:00:00Z", "servers": []}}`
	for _, tt := range []struct{ method, path, in, out, want string }{
		{"GET", "/v1/placement_groups/1", "", group, ""},
		{"GET", "/v1/placement_groups/1", "", strings.Replace(group, `"servers": []`, `"servers": null`, 1), "answer.placement_group.servers is null"},
		{"GET", "/v1/placement_groups/1", "", `{"placement_group": {}}`, "answer.placement_group.id is absent"},
		{"PUT", "/v1/placement_groups/1", `{"name": 5}`, group, "request.name is 5, not string"},
		{"GET", "/v1/unknown", "", `{}`, "there is no shape for the operation"},
	} {
		f := &failing{TB: t}
		answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(tt.out))
		})
		r := httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.in))
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		(&checker{f, answer, doc, all}).ServeHTTP(rec, r)
		said := strings.Join(f.said, "\n")
		if (tt.want == "") != (said == "") || !strings.Contains(said, tt.want) {
			t.Errorf("%s %s: %q, not %q", tt.method, tt.path, said, tt.want)
		}
		if doc != nil && tt.want != "" && len(f.said) < 2 {
			t.Errorf("%s %s: the description has nothing against it: %q", tt.method, tt.path, f.said)
		}
		if rec.Body.String() != tt.out {
			t.Errorf("the client got %s", rec.Body)
		}
	}
}
