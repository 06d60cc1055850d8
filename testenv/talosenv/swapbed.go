//go:build linux

package talosenv

import (
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

// factory is where installers come from.
const factory = "factory.talos.dev"

// Schematic is that of the images that nodes are made from and swapped to.
const Schematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

// laterEtcd is the tag of the etcd that the later release of Talos brings.
const laterEtcd = "3.7.1"

// system is what a node boots: a release of Talos, from an image with a schematic.
type system struct{ release, schematic string }

// extensions is the list of extensions that an image of the Image Factory has: the
// schematic is one of them. Other images have none.
func (s system) extensions() string {
	if s.schematic == "" {
		return ""
	}

	return fmt.Sprintf("layers:\n  - image: schematic.sqsh\n    metadata: {name: schematic, version: %s}\n", s.schematic)
}

// findSwap finds the programs of both releases.
func (b *bed) findSwap(t testing.TB) {
	t.Helper()

	b.releases = map[string]string{}
	for release := range talosVersions {
		b.releases[release] = toolenv.Folder(t, "talosnode/machined-"+release)
	}

	b.nextEtcd = filepath.Join(toolenv.Folder(t, "talosnode/etcd-3.7"), "etcd")
}

// of is the bed of nodes with another release.
func (b bed) of(release string) bed {
	if folder := b.releases[release]; folder != "" {
		b.release, b.machined = release, folder
	}

	return b
}

// swapImages are the installers of both releases, which have a name and no content, and
// the etcd of the later one.
func (b bed) swapImages() map[string]image {
	images := map[string]image{}
	if b.releases == nil {
		return images
	}

	images["etcd:"+laterEtcd] = image{{path: "usr/local/bin/etcd", file: b.nextEtcd}}
	for release := range b.releases {
		images[installerOf(release)] = image{{path: "version", text: talosVersions[release]}}
	}

	return images
}

// installerOf is what the registry calls the installer of a release.
func installerOf(release string) string { return Schematic + ":" + talosVersions[release] }

// installed is the system that an installer brings, by one of the names that a node gives
// to an image that it has pulled: with the tag, or with the digest.
func (c *Cluster) installed(name string) (system, error) {
	reference := path.Base(name)

	c.images.mu.Lock()
	defer c.images.mu.Unlock()

	for _, release := range slices.Sorted(maps.Keys(c.bed.releases)) {
		tagged := installerOf(release)
		if digest := c.images.latest[tagged]; digest != "" && (reference == tagged || reference == Schematic+"@"+digest) {
			return system{release: release, schematic: Schematic}, nil
		}
	}

	return system{}, fmt.Errorf("image %q: not found", name)
}

// volumes are what a node stores when it is switched off, in the words of Talos'
// provisioner for Docker.
var volumes = []string{"var", "system/state", "etc/cni", "etc/kubernetes", "usr/libexec/kubernetes", "opt"}

// stored makes the folders of the node's disk, if it has one, and a new boot id.
func (n *Node) stored() (folders map[string]string, boot string, err error) {
	if n.disk == "" {
		return nil, "", nil
	}

	folders = map[string]string{}
	for _, name := range volumes {
		folders[name] = filepath.Join(n.disk, name)
		if err := os.MkdirAll(folders[name], 0o755); err != nil {
			return nil, "", err
		}
	}

	return folders, newBootID(), nil
}

// newBootID is one in the kernel's form.
func newBootID() string {
	var id [16]byte

	rand.Read(id[:])

	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80

	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// UseLater is what a user does who takes the next release of Talos: the version, and
// patches in its vocabulary. It renders.
func (r *Repository) UseLater(c *Cluster, cluster string) {
	r.t.Helper()

	before, after := c.bed.release, "1.14"
	c.bed = c.bed.of(after)
	r.head = strings.Replace(r.head, "version: "+talosVersions[before], "version: "+talosVersions[after], 1)
	r.writePatches(c)
	r.ChangeCluster(cluster)
}

// writePatches writes what the nodes of a bed need.
func (r *Repository) writePatches(c *Cluster) {
	r.t.Helper()

	r.Write("envs/lab/patches/common/nodes.yaml", c.Patch())

	if patch := c.ControlPlanePatch(); patch != "" {
		r.Write("envs/lab/patches/controlplane/nodes.yaml", patch)
	}
}

// installer names the image that nodes are to be installed from, in the vocabulary of
// their release. The name says no platform: a container is none that has an installer.
func (b bed) installer() string {
	name := factory + "/installer/" + installerOf(b.release)

	switch {
	case b.releases == nil:
		return ""
	case b.release == "1.13":
		return "  install:\n    image: " + name + "\n"
	}

	return "apiVersion: v1alpha1\nkind: UnattendedInstallConfig\ninstaller:\n  image: " + name + "\n"
}
