package scaffold

import "testing"

// TestVersions: a new environment starts with what goes with its Talos.
func TestVersions(t *testing.T) {
	for talos, want := range map[string]string{"v1.9.0": "1.32.4", "1.11.5": "1.34.1", "v1.14.0-alpha.1": "1.36.3", "v1.99.0": "1.36.3", "": "1.36.3"} {
		if got := (Options{TalosVersion: talos}).kubernetes(); got != want {
			t.Errorf("Talos %q: %s, not %s", talos, got, want)
		}
	}
}
