package main

import "testing"

// TestTokenOf: an environment has its own token, or the one that all share; one that is
// set to nothing is none, and a simulated project is never shown a real one.
func TestTokenOf(t *testing.T) {
	vars := environ(func(name string) (string, bool) {
		value, set := map[string]string{"HCLOUD_TOKEN": "shared", "HCLOUD_TOKEN_PROD_EU": "own", "HCLOUD_TOKEN_DEV": ""}[name]
		return value, set
	})
	for _, tt := range []struct {
		env       string
		simulated bool
		want      string
	}{
		{"prod-eu", false, "own"}, {"prod-eu", true, "shared"}, {"prod", false, "shared"}, {"dev", false, "shared"},
	} {
		if got := vars.tokenOf(tt.env, tt.simulated).Reveal(); got != tt.want {
			t.Errorf("%s (simulated: %v): %s, not %s", tt.env, tt.simulated, got, tt.want)
		}
	}
}
