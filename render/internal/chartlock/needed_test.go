package chartlock

import (
	"maps"
	"slices"
	"testing"
)

// What is pinned where it is declared is needed, and so is its file, be it in
// the lock or not.
func TestNeeded(t *testing.T) {
	pinned := gateway
	pinned.SHA256 = digestA
	elsewhere := Reference{URL: "https://example.com/other.yaml", SHA256: digestB}
	needed := []Reference{cilium, pinned, elsewhere}
	for _, e := range sample().Unneeded(needed) {
		if e.Name != "podinfo" {
			t.Errorf("%s is not needed", e.Reference)
		}
	}
	if all := sample().Unneeded(nil); len(all) != len(sample().Entries) {
		t.Errorf("without addons, %d of %d are not needed", len(all), len(sample().Entries))
	}
	got := slices.Sorted(maps.Keys(sample().FileNames(needed)))
	want := []string{"cilium-1.20.3.tgz", "install-ca978112.yaml", "other-3e23e816.yaml", "podinfo-6.9.0.tgz"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
