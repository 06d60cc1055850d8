package machine

import (
	"slices"
	"testing"
)

// A patch of the old kind cannot override an option: that is found, not lost.
func TestShadowed(t *testing.T) {
	for _, tt := range []struct {
		patch string
		want  []string
	}{
		{"machine: {sysctls: {vm.max_map_count: '1', vm.swappiness: '10'}}", []string{`machine.sysctls."vm.max_map_count"`}},
		{"machine: {sysctls: {vm.max_map_count: '262144'}}", nil},
		{"{apiVersion: v1alpha1, kind: SysctlConfig, params: {vm.max_map_count: '1'}}", nil},
	} {
		options, err := OptionsPatch("cluster.yaml", NodeOptions{Talos: TalosOptions{Sysctls: OptionMap{"vm.max_map_count": at("262144", 3)}}}, Worker, "v1.14")
		if err != nil {
			t.Fatal(err)
		}
		patch, err := LoadPatch(Source{File: "patch.yaml", Data: []byte(tt.patch)}, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		cfg, _, err := testBase(t, "v1.14", Worker).Apply([]*Patch{options, patch})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := cfg.Shadowed(); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v; want %q", tt.patch, got, err, tt.want)
		}
	}
}
