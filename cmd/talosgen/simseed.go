package main

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/schemas"
)

// renderedInfrastructure reads what an environment wants, without its seal, which
// would need a key.
func renderedInfrastructure(root, env string) (infra schemas.Infrastructure, err error) {
	tree, err := renderedTree(root, env)
	if err != nil {
		return infra, err
	}
	files := map[string][]byte{}
	switch data, err := fs.ReadFile(tree, schemas.InfrastructureFile); {
	case err == nil:
		files[schemas.InfrastructureFile] = data
	case !errors.Is(err, fs.ErrNotExist):
		return infra, diag.New(diag.Pos{File: "rendered/" + env + "/" + schemas.InfrastructureFile}, "cannot be read: %v", reasonOf(err)).WithCause(err)
	}
	return rendered.Infrastructure("rendered/"+env, files)
}

// snapshotDisk is how large the disks of seeded snapshots are, in GB: no larger
// than any server type's.
const snapshotDisk = 10

// authorizedKey reads a public SSH key; none without a file.
func authorizedKey(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err == nil {
		_, _, _, _, err = ssh.ParseAuthorizedKey(text)
	}
	if err != nil {
		return "", diag.On("--"+flagAuthor, "%s cannot be read as a public SSH key: %v", file, reasonOf(err)).
			WithHint("such as ~/.ssh/id_ed25519.pub").WithCode(diag.Usage).WithCause(err)
	}
	return strings.TrimSpace(string(text)), nil
}

// seed makes what an environment expects to find in its project. SSH keys are
// this one; empty is one without a private key.
func seed(sim *hetznersim.Sim, infra schemas.Infrastructure, key string) error {
	for _, image := range infra.Images {
		sim.AddSnapshot("Talos, without any content", image.Architecture, snapshotDisk, image.Labels)
	}
	for _, record := range infra.DNSRecords {
		sim.AddZone(record.Zone)
	}
	for _, server := range infra.Servers {
		for _, name := range server.SSHKeys {
			sim.AddSSHKey(name, key)
		}
	}
	for _, f := range infra.Firewalls {
		if f.ExistingID != 0 {
			sim.AddFirewall(f.ExistingID, "6443", "50000") // whose it is lets in who works with the cluster
		}
	}
	for _, f := range infra.FloatingIPs {
		if f.ExistingID != 0 {
			sim.AddFloatingIP(f.ExistingID, f.Type, f.Location)
		}
	}
	seedVSwitches(sim, infra.Network)
	if n := infra.Network; n != nil && n.Existing {
		ipRange, err := netip.ParsePrefix(n.IPRange)
		if err != nil {
			return diag.On("network of "+infra.Cluster, "%q is no range: %v", n.IPRange, err)
		}
		sim.AddNetwork(n.ExistingID, n.Name, ipRange)
	}
	return nil
}

// seedVSwitches makes the vSwitches that subnets of a network are coupled with.
func seedVSwitches(sim *hetznersim.Sim, n *schemas.InfraNetwork) {
	if n == nil {
		return
	}
	for _, s := range n.Subnets {
		if s.VSwitchID != 0 {
			sim.AddVSwitch(s.VSwitchID)
		}
	}
}
