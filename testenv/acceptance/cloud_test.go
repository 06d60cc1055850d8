//go:build linux

package acceptance

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/talosgen/talosgen/testenv/cloudenv"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// private is a cluster whose nodes are reached through the NAT gateway only.
func private(controlPlanes, workers int) string {
	return fmt.Sprintf(`access: private
network:
  nodeCidrs: [10.0.64.0/19]
  serviceCidrs: [10.0.96.0/19]
  podCidrs: [10.0.128.0/17]
  publicIpv4: false
  publicIpv6: false
  natGateway:
    type: cpx22
    sshSource: [198.18.0.0/15]
hetzner:
  region: hel1
  networkZone: eu-central
  sshKeys: [%s]
nodes:
  controlPlane:
    count: %d
    type: cpx22
    privateVip: false
    acknowledgeEvenCount: true
  workers:
    nodepools:
      - name: worker
        count: %d
        type: cpx22
`, cloudenv.SSHKey, controlPlanes, workers)
}

// newProject starts a project, and a repository with a cluster for it.
func newProject(t *testing.T, o talosenv.Options, cluster string) (*cloudenv.Project, *user) {
	t.Helper()
	file := build(t)
	p := cloudenv.Start(t, o)
	u := &user{t: t, bed: p.Bed, repository: p.Bed.NewRepositoryOf(t, file, "hetzner", cluster), environ: p.Environ()}
	p.AddImages(t, filepath.Join(u.repository.Root(), "rendered/lab/infrastructure.yaml"))
	return p, u
}

// TestCloud takes an empty project to a cluster behind a gateway, and lives with
// it. Its steps share the nodes, so one that fails ends the test.
func TestCloud(t *testing.T) {
	p, u := newProject(t, talosenv.Options{Kubernetes: true}, private(3, 1))
	apply := []string{"apply", "lab", "--allow-dirty", "--yes", "--ssh-key", p.KeyFile}
	with := func(args ...string) []string { return append(apply[:len(apply):len(apply)], args...) }

	u.must(apply...)
	u.contains(u.must("plan", "lab", "--allow-dirty", "--ssh-key", p.KeyFile), "lab: nothing to do", "lab, nodes: nothing to do")
	u.must("health", "lab", "--allow-dirty", "--ssh-key", p.KeyFile, "--wait", "6m")

	u.repository.Change("envs/lab/patches/common/changed.yaml", "machine: {sysctls: {net.core.somaxconn: '8192'}}\n")
	u.must(apply...)
	u.contains(u.must("plan", "lab", "--allow-dirty", "--ssh-key", p.KeyFile), "lab, nodes: nothing to do")

	u.repository.ChangeCluster(private(2, 1))
	_, err := u.talosgen(apply...)
	if err == nil {
		t.Error("a control plane is removed without consent")
	}
	u.must(with("--allow", "lab-control-plane-3")...)
	u.must("etcd", "status", "lab", "--allow-dirty", "--ssh-key", p.KeyFile)
}
