package scaffold

import "testing"

func TestDefaultKubernetes(t *testing.T) {
	for talos, want := range map[string]string{"v1.9.0": "1.32.0", "1.11.5": "1.34.0", "v1.14.0-alpha.1": "1.37.0"} {
		if got := DefaultKubernetes(talos); got != want {
			t.Errorf("Talos %s: %s, not %s", talos, got, want)
		}
	}
}
