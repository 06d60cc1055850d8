package layer

import (
	"slices"
	"testing"
)

func TestPatchesOf(t *testing.T) {
	inputs := []string{
		"envs/dev/cluster.yaml",
		"envs/dev/patches/nodes.yaml",
		"envs/dev/patches/nodes/dev-db-1.yaml",
		"envs/dev/patches/nodes/dev-db-1/10-disks.yaml",
		"envs/dev/patches/nodes/dev-db-10.yaml",
		"envs/dev/patches/nodes/dev-db-2.sops.yaml",
		"envs/dev/patches/pools/db.yaml",
		"envs/dev/patches/pools/db/labels.yaml",
		"envs/dev/patches/pools/dev-db-1.yaml",
		"envs/dev/patches/worker/db.yaml",
		"envs/prod/patches/nodes/dev-db-1.yaml",
		"patches/worker/db.yaml",
	}
	got := PatchesOf(inputs, "dev", []string{"db"}, []string{"dev-db-1", "dev-db-2"})
	want := []string{
		"envs/dev/patches/nodes/dev-db-1.yaml",
		"envs/dev/patches/nodes/dev-db-1/10-disks.yaml",
		"envs/dev/patches/nodes/dev-db-2.sops.yaml",
		"envs/dev/patches/pools/db.yaml",
		"envs/dev/patches/pools/db/labels.yaml",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
