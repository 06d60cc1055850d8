package kube

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// TestRemovedUsesReal: what a real API server counts can be read, and nothing ends of
// what it serves by itself, also when somebody asks for an API that is deprecated and
// stays.
func TestRemovedUsesReal(t *testing.T) {
	c, err := New(realOptions(t, kubeenv.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	get := func(path string) string {
		text, err := c.served.RESTClient().Get().AbsPath(path).DoRaw(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	get("/api/v1/endpoints")
	if !strings.Contains(get(metricsPath), deprecated+`{group="",removed_release="",resource="endpoints"`) {
		t.Errorf("the API server does not count who asks for Endpoints in %s", deprecated)
	}
	const until = 37
	if uses, err := DeprecatedRequests(t.Context(), c, "cp-1", until); err != nil || len(uses) > 0 {
		t.Errorf("requests: %v, %v", uses, err)
	}
	if uses, err := RemovedUses(t.Context(), c, until); err != nil || len(uses) > 0 {
		t.Errorf("uses: %v, %v", uses, err)
	}
}
