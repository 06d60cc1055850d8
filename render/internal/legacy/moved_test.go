package legacy

import (
	"slices"
	"testing"
)

func TestMovedTo(t *testing.T) {
	for _, tt := range []struct {
		path string
		want []string
	}{
		{"machine.kubelet.extraArgs", []string{"KubeletConfig.extraArgs"}},
		{"machine.kubelet.extraArgs.v", []string{"KubeletConfig.extraArgs"}},
		{"machine.kubelet.nothing", nil},
		{"machine.nodeLabels", []string{"KubeNodeConfig.labels"}},
		{"machine.type", nil},
		{"machine.kube", nil},
		{"", nil},
		{"HostnameConfig", nil},
	} {
		if got := MovedTo(tt.path); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %v, want %v", tt.path, got, tt.want)
		}
	}
}

// What a section became is every document that has a part of it, each once.
func TestMovedToOfSections(t *testing.T) {
	for _, section := range []string{"machine", "machine.kubelet", "machine.network", "cluster", "cluster.network"} {
		got := MovedTo(section)
		for _, h := range Homes() {
			if h.Kind == "" || len(h.Path) <= len(section) || h.Path[:len(section)+1] != section+"." {
				continue
			}
			if slices.Index(got, h.Kind) < 0 && !slices.Contains(got, h.Target()) && len(got) != 1 {
				t.Errorf("%s became %v, without %s of %s", section, got, h.Kind, h.Path)
			}
		}
		if len(got) == 0 || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("%s became %v", section, got)
		}
	}
}
