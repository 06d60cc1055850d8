package nodeconfig

import "testing"

// Only a move to another contract keeps all of a configuration.
func TestWhole(t *testing.T) {
	for name, tt := range map[string]struct {
		change Change
		want   bool
	}{
		"another contract": {contractMove(&Config{}), true},
		"a version":        {Change{Document: mainDocument, Path: "machine.kubelet.image", Class: Upgrade}, false},
		"another document": {Change{Document: "KubeletConfig", Class: Upgrade}, false},
		"a replacement":    {Change{Document: mainDocument, Class: Replacement}, false},
	} {
		if got := tt.change.Whole(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
