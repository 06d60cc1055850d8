//go:build linux

package cloudenv

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/simtest"
	"github.com/talosgen/talosgen/schemas"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// SSHKey is the name that the project knows the SSH key of its users by.
const SSHKey = "operators"

// Network is the private network of clusters in the project.
var Network = netip.MustParsePrefix("10.0.0.0/16")

// Project is a simulated project.
type Project struct {
	Sim      *hetznersim.Sim
	Endpoint string // of its API
	KeyFile  string // the private SSH key of its users
	Bed      *talosenv.Cluster

	machines *machines
	calls    *calls
	nodes    string // what they run, in talosgen's words
}

// Start starts an empty project, with options for its nodes. It ends with the
// test.
func Start(t *testing.T, o talosenv.Options) *Project {
	t.Helper()
	o.Bastion, o.Network = true, Network
	bed := talosenv.Start(t, o)
	file, public := newKey(t)
	m := &machines{t: t, bed: bed, authorized: public, running: map[int64]*machine{}}
	// What a machine still does ends before the nodes do.
	t.Cleanup(m.close)
	nodes := "1"
	if o.Kubernetes {
		nodes = "kubernetes"
	}
	p := &Project{KeyFile: file, Bed: bed, machines: m, nodes: nodes, Sim: hetznersim.New(hetznersim.Options{
		Clock: wall{}, ActionTime: hetznersim.Instant, RateLimit: -1, Machines: m,
		FirstPublicIPv4: bed.Public().Masked().Addr().Next().Next(),
	})}
	p.calls = &calls{to: simtest.Serve(t, p.Sim)}
	p.Endpoint = p.calls.serve(t)
	p.addKey(t, public)
	return p
}

// Settle waits until all machines have started or stopped.
func (p *Project) Settle() { p.machines.busy.Wait() }

// Environ are the variables that lead programs to the project.
func (p *Project) Environ() []string {
	return []string{"HCLOUD_ENDPOINT=" + p.Endpoint, "HCLOUD_TOKEN=" + p.Sim.Token(), "TALOSGEN_SIM_NODES=" + p.nodes}
}

// AddImages gives the project what the servers of a rendered environment are made
// from.
func (p *Project) AddImages(t *testing.T, infrastructure string) {
	t.Helper()
	data, err := os.ReadFile(infrastructure)
	if err != nil {
		t.Fatal(err)
	}
	var infra schemas.Infrastructure
	if err := yaml.Unmarshal(data, &infra); err != nil {
		t.Fatal(err)
	}
	const disk = 40 // GB
	for _, image := range infra.Images {
		p.Sim.AddSnapshot("Talos of the test bed", image.Architecture, disk, image.Labels)
	}
}

// newKey makes an SSH key: the file of the private half, and the public one.
func newKey(t *testing.T) (file, public string) {
	t.Helper()
	half, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	shown, err := ssh.NewPublicKey(half)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "id_ed25519")
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(shown)))
}

// wall is the time of this machine: the nodes live in it.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

func (wall) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
