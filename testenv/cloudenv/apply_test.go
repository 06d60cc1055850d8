//go:build linux

package cloudenv

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
  workers:
    nodepools:
      - name: worker
        count: %d
        type: cpx22
`, SSHKey, controlPlanes, workers)
}

// user works in a repository with a project.
type user struct {
	t          *testing.T
	program    string
	project    *Project
	repository *talosenv.Repository
}

func newUser(t *testing.T, o talosenv.Options, cluster string) *user {
	t.Helper()
	program := filepath.Join(t.TempDir(), "talosgen")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/talosgen/talosgen/cmd/talosgen").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := Start(t, o)
	u := &user{t: t, program: program, project: p, repository: p.Bed.NewRepositoryOf(t, program, "hetzner", cluster)}
	p.AddImages(t, filepath.Join(u.repository.Root(), "rendered/lab/infrastructure.yaml"))
	return u
}

// talosgen runs a command in the repository, and returns what it prints.
func (u *user) talosgen(args ...string) (string, error) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), 10*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, u.program, append([]string{"-C", u.repository.Root()}, args...)...)
	command.Env = append(os.Environ(), u.project.Environ()...)
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	u.t.Logf("$ talosgen %s\n%s%s", strings.Join(args, " "), &stderr, &stdout)
	return stdout.String() + stderr.String(), err
}

// TestApply takes an empty project to a cluster.
func TestApply(t *testing.T) {
	u := newUser(t, talosenv.Options{}, private(1, 1))
	if _, err := u.talosgen("apply", "lab", "--allow-dirty", "--yes"); err != nil {
		t.Fatal(err)
	}
	u.project.Settle()
	for _, n := range u.project.Bed.Nodes() {
		stage, err := u.project.Bed.Insecure(t.Context(), t, n, "get", "machinestatus", "-o", "jsonpath={.spec.stage}")
		if err != nil || strings.TrimSpace(stage) != "maintenance" {
			t.Errorf("%s at %s is in stage %q: %v", n.Name, n.Address, stage, err)
		}
	}
}
