package machine

import (
	"fmt"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/constants"

	"github.com/talosgen/talosgen/internal/versions"
)

// TestKnownReleases: the table of releases says of Kubernetes what Talos' library
// says, and its contracts generate.
func TestKnownReleases(t *testing.T) {
	for _, r := range versions.Releases() {
		for minor := r.Oldest - 1; minor <= r.Newest+1; minor++ {
			err := CheckKubernetes(fmt.Sprintf("1.%d.0", minor), r.Contract())
			if want := minor >= r.Oldest && minor <= r.Newest; (err == nil) != want {
				t.Errorf("Talos %s with Kubernetes 1.%d: %v", r.Contract(), minor, err)
			}
		}
		if err := CheckKubernetes(r.Start(), r.Contract()); err != nil {
			t.Errorf("Talos %s starts with Kubernetes %s: %v", r.Contract(), r.Start(), err)
		}
		if _, err := MultiDocument(r.Contract()); err != nil {
			t.Error(err)
		}
	}
	if got := versions.Newest().Kubernetes; got != constants.DefaultKubernetesVersion {
		t.Errorf("the linked library is for Kubernetes %s, and the newest release of the table installs %s", constants.DefaultKubernetesVersion, got)
	}
}
