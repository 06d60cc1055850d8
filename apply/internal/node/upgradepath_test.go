package node_test

import (
	"fmt"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/compatibility"
	"github.com/siderolabs/talos/pkg/machinery/constants"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
)

// TestSupportsAsTalosSays compares what is known of releases with what the
// libraries of Talos say, for each minor of both that either knows.
func TestSupportsAsTalosSays(t *testing.T) {
	for minor := 2; minor <= 20; minor++ {
		talos := fmt.Sprintf("v1.%d.0", minor)
		theirs, err := compatibility.ParseTalosVersion(&machine.VersionInfo{Tag: talos})
		if err != nil {
			t.Fatal(err)
		}
		for k := 20; k <= 42; k++ {
			kubernetes := fmt.Sprintf("1.%d.0", k)
			version, err := compatibility.ParseKubernetesVersion(kubernetes)
			if err != nil {
				t.Fatal(err)
			}
			supported, known := upgradepath.Supports(talos, kubernetes)
			if expected := version.SupportedWith(theirs) == nil; known && supported != expected || !known && minor >= 8 && expected {
				t.Errorf("Talos %s with Kubernetes %s: %v (known: %v), Talos says %v", talos, kubernetes, supported, known, expected)
			}
		}
	}
}

// TestNewestReleaseIsKnown fails when the libraries of Talos move on, and the table
// of releases does not.
func TestNewestReleaseIsKnown(t *testing.T) {
	newest := ""
	for minor := 30; newest == ""; minor-- {
		if talos := fmt.Sprintf("v1.%d.99", minor); upgradepath.Etcd(talos) != "" {
			newest = talos
		}
	}
	if etcd := upgradepath.Etcd(newest); etcd != constants.DefaultEtcdVersion {
		t.Errorf("%s: etcd %s, Talos has %s", newest, etcd, constants.DefaultEtcdVersion)
	}
	if supported, _ := upgradepath.Supports(newest, constants.DefaultKubernetesVersion); !supported {
		t.Errorf("%s: Kubernetes %s is not supported", newest, constants.DefaultKubernetesVersion)
	}
}
