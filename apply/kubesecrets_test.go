package apply

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/talosgen/talosgen/internal/diag"
)

// TestAPIServersDisagree: as long as one API server encrypts Secrets with another key than
// the others, the rewrite does not end well, and names it. Nothing that Secrets hold is
// told.
func TestAPIServersDisagree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := []string{"cp-1", "cp-2", "cp-3"}
		s := newStaticSite(t, names...)
		rewrite := func() ([]string, error) {
			api, err := s.session().connect.kube.static()
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			err = api.RewriteSecrets(t.Context(), func(text string) {
				if told = append(told, text); len(told) == 2 { // who has it in mind finds it gone
					s.fleet.Kubernetes("cp-1").Remove("Secret", "default", "secret-0")
				}
			})
			return told, err
		}
		s.keys.Encrypt("key2", "key3")
		s.staticTree(names...)
		s.mustApply(Policy{})
		if told, err := rewrite(); err != nil || len(told) != 2 {
			t.Errorf("without a Secret: %q, %v", told, err)
		}
		for n := range 10 {
			s.fleet.Kubernetes("cp-1").Put(map[string]any{"apiVersion": "v1", "kind": "Secret",
				"metadata": map[string]any{"name": fmt.Sprint("secret-", n), "namespace": "default"}, "data": map[string]any{"a": canaryToken}})
		}
		if told, err := rewrite(); err != nil || told[len(told)-1] != "all 10 Secrets are stored with the new key; 10 were not" {
			t.Errorf("%q, %v", told, err)
		}

		s.keys.Encrypt("key3", "key2")
		s.staticTree(names...)
		s.mustApply(Policy{Nodes: []string{"cp-2"}})
		told, err := rewrite()
		if err == nil || diag.CodeOf(err) != diag.NotReady || !strings.Contains(err.Error(), "encrypts Secrets with another key than the others") {
			t.Errorf("%q, %v", told, err)
		}
		if text := fmt.Sprint(told, err); strings.Contains(text, canaryToken) {
			t.Errorf("a secret is told: %s", text)
		}
		s.mustApply(Policy{})
		if told, err := rewrite(); err != nil {
			t.Errorf("%q, %v", told, err)
		}
		for key, count := range s.fleet.Kubernetes("cp-1").StoredWith() {
			if !strings.Contains(key, ":key3:") || count != 9 {
				t.Errorf("%d are stored with %s", count, key)
			}
		}
	})
}
