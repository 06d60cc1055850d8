package kubelifecycle

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestOf has kinds that ended, one that ends later, and one that does not.
func TestOf(t *testing.T) {
	for kind, want := range map[schema.GroupVersionKind]string{
		{Group: "flowcontrol.apiserver.k8s.io", Version: "v1beta3", Kind: "FlowSchema"}:         "1.32.0 flowcontrol.apiserver.k8s.io/v1, Kind=FlowSchema",
		{Group: "networking.k8s.io", Version: "v1beta1", Kind: "IPAddress"}:                     "1.37.0 /, Kind=",
		{Group: "storage.k8s.io", Version: "v1beta1", Kind: "VolumeAttributesClass"}:            "1.37.0 storage.k8s.io/v1, Kind=VolumeAttributesClass",
		{Group: "storagemigration.k8s.io", Version: "v1beta1", Kind: "StorageVersionMigration"}: "1.40.0 storagemigration.k8s.io/v1, Kind=StorageVersionMigration",
		{Group: "apps", Version: "v1", Kind: "Deployment"}:                                      "",
	} {
		got := ""
		if e, ends := Of(kind); ends {
			got = e.Release() + " " + e.Instead.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
