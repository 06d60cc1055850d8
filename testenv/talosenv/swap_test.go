//go:build linux

package talosenv

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestSwap lets real talosctl upgrade a node through the proxy: it boots the other release
// of Talos, in another boot, with the member of etcd that it had.
func TestSwap(t *testing.T) {
	c := Start(t, Options{ControlPlanes: 1, Swap: true})
	r := c.NewRepository(t)
	client := apply(t, c, r)
	cp := c.ControlPlanes[0]
	eventually(t, time.Minute, func(ctx context.Context) error {
		_, err := client.Run(ctx, cp, "bootstrap")
		return err
	})
	eventually(t, 3*time.Minute, func(ctx context.Context) error { return members(ctx, client, cp, 1) })

	before := told(t, client, cp)
	proxied := client.through(c.StartSwaps(t, r.MachineConfig(cp)))

	output, err := proxied.Run(t.Context(), cp, "upgrade", "--image", factory+"/installer/"+installerOf("1.14"), "--drain=false", "--wait=false")
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}

	eventually(t, 3*time.Minute, func(ctx context.Context) error {
		if output, err := client.Run(ctx, cp, "version"); err != nil || !strings.Contains(output, talosVersions["1.14"]) {
			return fmt.Errorf("the node runs %s, %w", output, err)
		}

		return members(ctx, client, cp, 1)
	})

	after := told(t, client, cp)
	if after.boot == before.boot || after.members != before.members || after.config != before.config {
		t.Errorf("before %+v, after %+v", before, after)
	}

	// What nodes in containers refuse, and the proxy does not answer.
	if output, err := proxied.Run(t.Context(), cp, "rollback"); err == nil || !strings.Contains(err.Error(), "FailedPrecondition") {
		t.Errorf("rollback: %s, %v", output, err)
	}
}

// saying is what a node says of itself.
type saying struct{ boot, members, config string }

func told(t *testing.T, client *Client, n *Node) (s saying) {
	t.Helper()

	for into, args := range map[*string][]string{
		&s.boot:    {"read", "/proc/sys/kernel/random/boot_id"},
		&s.members: {"etcd", "members"},
		&s.config:  {"get", "machineconfig", "v1alpha1", "-o", "jsonpath={.spec}"},
	} {
		output, err := client.Run(t.Context(), n, args...)
		if err != nil {
			t.Fatal(err)
		}

		*into = output
	}

	return s
}

// TestInstalled finds systems by what nodes call the images that they have pulled.
func TestInstalled(t *testing.T) {
	c := &Cluster{bed: bed{releases: map[string]string{"1.13": "", "1.14": ""}}}
	c.images = &registry{images: c.bed.swapImages(), blobs: map[string]blob{}, latest: map[string]string{}}

	digest, err := c.images.manifest(Schematic, talosVersions["1.14"])
	if err != nil {
		t.Fatal(err)
	}

	name := factory + "/installer/" + Schematic
	for _, known := range []string{name + "@" + digest, name + ":" + talosVersions["1.14"]} {
		if got, err := c.installed(known); err != nil || got != (system{release: "1.14", schematic: Schematic}) {
			t.Errorf("%q is %v, %v", known, got, err)
		}
	}

	for _, unknown := range []string{name, name + ":" + talosVersions["1.13"], name + "@sha256:00", ""} { // 1.13 was not pulled
		if got, err := c.installed(unknown); err == nil {
			t.Errorf("%q is %v", unknown, got)
		}
	}
}
