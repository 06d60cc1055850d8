//go:build linux

package acceptance

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

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
	project, u := newProject(t, talosenv.Options{Kubernetes: true}, private(3, 1))
	c := &cloud{user: u, flags: []string{"lab", "--allow-dirty", "--ssh-key", project.KeyFile}}

	// From nothing.
	if output := c.must(c.apply()...); strings.Contains(output, "failed") {
		t.Error("something failed")
	}
	c.nothingToDo()
	c.must(c.command("health", "--wait", "6m")...)

	// A setting changes everywhere, and nothing reboots.
	c.repository.Change("envs/lab/patches/common/changed.yaml", "machine: {sysctls: {net.core.somaxconn: '8192'}}\n")
	c.contains(c.must(c.apply()...), "4 to configure")
	c.nothingToDo()

	// A control plane goes, and comes again.
	c.repository.ChangeCluster(private(2, 1))
	if output, err := c.talosgen(c.apply()...); err == nil {
		t.Fatal("a control plane is removed without consent")
	} else {
		c.contains(output, "--allow lab-control-plane-3")
	}
	c.must(c.apply("--allow", "lab-control-plane-3")...)
	c.members("lab-control-plane-1", "lab-control-plane-2")
	c.repository.ChangeCluster(private(3, 1))
	c.must(c.apply()...)
	c.members("lab-control-plane-1", "lab-control-plane-2", "lab-control-plane-3")
	c.nothingToDo()

	// One dies: no other one may go now.
	c.die("lab-control-plane-2")
	c.repository.ChangeCluster(private(2, 1))
	output, err := c.talosgen(c.apply("--allow", "lab-control-plane-3")...)
	if err == nil {
		t.Fatal("etcd lost its quorum")
	}
	c.contains(output, "it must not be removed: etcd would have 1 of 2 healthy members, and needs 2")

	// The dead one is replaced, as the page says.
	c.repository.ChangeCluster(private(3, 1))
	c.publish()
	c.environ = append(c.environ, "SSH_AUTH_SOCK="+startAgent(t, project.KeyFile))
	c.follow(steps(t, "replace-a-control-plane.md"))
	c.members("lab-control-plane-1", "lab-control-plane-2", "lab-control-plane-3")

	// All of etcd is lost: it is made anew from a snapshot, and only from it.
	page := steps(t, "recover.md")
	c.follow(page[:1])
	deleteServers(t, project, "lab-control-plane-1", "lab-control-plane-2", "lab-control-plane-3")
	c.follow(page[1:])
	c.members("lab-control-plane-1", "lab-control-plane-2", "lab-control-plane-3")
	c.nothingToDo()
}

// deleteServers removes servers as somebody does who is not talosgen: their protection
// goes first.
func deleteServers(t *testing.T, p *cloudenv.Project, names ...string) {
	t.Helper()
	client := hcloud.NewClient(hcloud.WithEndpoint(p.Endpoint), hcloud.WithToken(p.Sim.Token()), hcloud.WithPollOpts(hcloud.PollOpts{BackoffFunc: hcloud.ConstantBackoff(100 * time.Millisecond)}))
	off := false
	for _, name := range names {
		server, _, err := client.Server.GetByName(t.Context(), name)
		if err != nil || server == nil {
			t.Fatalf("server %s: %v", name, err)
		}
		open, _, err := client.Server.ChangeProtection(t.Context(), server, hcloud.ServerChangeProtectionOpts{Delete: &off, Rebuild: &off})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Action.WaitFor(t.Context(), open); err != nil {
			t.Fatal(err)
		}
		gone, _, err := client.Server.DeleteWithResult(t.Context(), server)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Action.WaitFor(t.Context(), gone.Action); err != nil {
			t.Fatal(err)
		}
	}
	p.Settle()
}

// cloud is a user with a project.
type cloud struct {
	*user
	flags []string
}

func (c *cloud) command(name string, args ...string) []string {
	return slices.Concat([]string{name}, c.flags, args)
}

func (c *cloud) apply(args ...string) []string {
	return c.command("apply", append([]string{"--yes"}, args...)...)
}

// nothingToDo wants all to be as in Git.
func (c *cloud) nothingToDo() {
	c.t.Helper()
	c.contains(c.must(c.command("plan")...), "lab: nothing to do", "lab, nodes: nothing to do")
}

// members wants etcd to have these, all with a vote.
func (c *cloud) members(want ...string) {
	c.t.Helper()
	output := c.must(slices.Concat([]string{"etcd", "status"}, c.flags, []string{"-o", "json"})...)
	for _, name := range want {
		c.contains(output, name)
	}
	if got := strings.Count(output, `"learner": false`); got != len(want) {
		c.t.Errorf("there are %d members, want %d", got, len(want))
	}
}

// die cuts the power of a node.
func (c *cloud) die(name string) {
	c.t.Helper()
	for _, n := range c.bed.Nodes() {
		if n.Name == name {
			if err := n.Stop(); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}
