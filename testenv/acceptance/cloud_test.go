//go:build linux

package acceptance

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/cloudenv"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// TestCloud takes an empty project to a cluster behind a gateway that Flux runs,
// lives with it, destroys it, and makes it again. Its steps share the nodes, so one
// that fails ends the test. docs/explanation/end-to-end.md has the timeline that it
// prints.
func TestCloud(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	line := &timeline{t: t, bed: c.bed}
	line.take("a repository: init, secrets, render, commit, push", c.begin)
	line.take("apply: from an empty project to a cluster that Flux runs", c.fromNothing)
	line.take("a patch and a value of an addon change: apply, and Flux", c.change)
	line.take("the pool of workers grows to 2, killed once", c.scaleUp)
	line.take("the pool of workers shrinks to 1", c.scaleDown)
	line.take("drift by hand at Hetzner, on a node, in Kubernetes: repaired", c.drift)
	line.take("a control plane goes", c.controlPlaneGoes)
	line.take("a control plane comes, killed once", c.controlPlaneComes)
	line.take("a control plane dies, and no other one may go", c.controlPlaneDies)
	line.take("the dead one is replaced", c.replaced)
	if os.Getenv(talosenv.Nightly) != "" {
		line.take("all control planes move to another location, killed once", c.moved)
	}
	line.take("all of etcd is lost, and made anew from a snapshot", c.recovered)
	line.take("no object of Kubernetes but Secrets has a secret", c.noSecretInObjects)
	line.take("destroy: nothing is left", c.destroy)
	line.take("apply: the same commit again, killed three times", c.applyKilled)
	line.print()
	c.secrets.search(t)
}

// failedStep is the line of a step, or of a stage, that failed. A kubelet that has just
// begun may say of something of its own that it failed, which is no step.
var failedStep = regexp.MustCompile(`(?m)^(?: +\[ *\d+/\d+\] .*|[A-Za-z][a-z ]*) failed .*`)

// fromNothing is apply, in which no step fails, not even to be tried again.
func (c *cloud) fromNothing() {
	if step := failedStep.FindString(c.applied()); step != "" {
		c.t.Errorf("a step failed: %s", step)
	}
	c.apply()
}

// apply makes all of the cluster what Git says.
func (c *cloud) apply() {
	c.applied()
	c.must("health", "lab", "--wait", "6m", "--ssh-key", c.project.KeyFile)
	c.asInGit()
	c.greets("hello")
}

// change changes a setting of all nodes, for which nothing reboots, and what Flux
// runs.
func (c *cloud) change() {
	c.repository.Write("envs/lab/patches/common/changed.yaml", "machine: {sysctls: {net.core.somaxconn: '8192'}}\n")
	c.repository.Write("envs/lab/addons/hello/values.yaml", "greeting: good morning\n")
	c.commit("A longer backlog, and a kinder greeting")
	if steps := c.asRehearsed(c.rehearse(c.audit()), applyCommand()...); len(steps) != 4 {
		c.t.Errorf("the steps are %q, want one for each node", steps)
	}
	c.asInGit()
	c.greets("good morning")
	c.repository.Write("envs/lab/addons/hello/values.yaml", "greeting: hello\n")
	c.commit("Back to the old greeting")
}

func (c *cloud) scaleUp() {
	c.must("pool", "scale", "lab", "worker", "2")
	c.commit("Two workers")
	c.killed(10, applyCommand()...)
	c.applied()
	c.registered("lab-control-plane-1", "lab-control-plane-2", "lab-control-plane-3", "lab-worker-1", "lab-worker-2")
	c.asInGit()
}

func (c *cloud) scaleDown() {
	c.must("pool", "scale", "lab", "worker", "1")
	c.commit("One worker")
	c.refused("--allow server/lab-worker-2", applyCommand()...)
	c.asRehearsed(c.rehearse(c.audit()), applyCommand("--allow", "server/lab-worker-2")...)
	c.registered("lab-control-plane-1", "lab-control-plane-2", "lab-control-plane-3", "lab-worker-1")
	c.asInGit()
}

func (c *cloud) controlPlaneGoes() {
	c.describe(2, 1)
	c.commit("Two control planes")
	c.refused("--allow server/lab-control-plane-3", applyCommand()...)
	c.asRehearsed(c.rehearse(c.audit()), applyCommand("--allow", "server/lab-control-plane-3")...)
	c.members("lab-control-plane-1", "lab-control-plane-2")
}

func (c *cloud) controlPlaneComes() {
	c.describe(3, 1)
	c.commit("Three control planes")
	c.killed(20, applyCommand()...)
	c.applied()
	c.members("lab-control-plane-1", "lab-control-plane-2", "lab-control-plane-3")
	c.asInGit()
}

func (c *cloud) controlPlaneDies() {
	c.die("lab-control-plane-2")
	c.elected()
	c.describe(2, 1)
	c.commit("Two control planes")
	c.refused("it must not be removed: etcd would have 1 of 2 healthy members, and needs 2",
		applyCommand("--allow", "server/lab-control-plane-3")...)
	c.describe(3, 1)
	c.commit("Three control planes")
}

// replaced does as the page says.
func (c *cloud) replaced() {
	c.follow(steps(c.t, "replace-a-control-plane.md"))
	c.members("lab-control-plane-1", "lab-control-plane-2", "lab-control-plane-3")
	c.asInGit()
}

// moved makes all control planes anew elsewhere, one after the other.
func (c *cloud) moved() {
	c.location = "fsn1"
	c.describe(3, 1)
	c.commit("Control planes in Falkenstein")
	c.refused("--allow recreate/control-plane", applyCommand()...)
	move := applyCommand("--allow", "recreate/control-plane")
	c.killed(60, move...)
	c.must(move...)
	c.members("lab-control-plane-1", "lab-control-plane-2", "lab-control-plane-3")
	servers, err := c.hetzner().Server.All(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, s := range servers {
		if at, control := s.Location.Name, strings.Contains(s.Name, "control-plane"); control != (at == c.location) {
			c.t.Errorf("server %s is in %s", s.Name, at)
		}
	}
	c.asInGit()
}

// recovered does as the page says: etcd is made from a snapshot, and only from it.
func (c *cloud) recovered() {
	page := steps(c.t, "recover.md")
	c.follow(page[:1])
	c.deleteServers("lab-control-plane-1", "lab-control-plane-2", "lab-control-plane-3")
	c.follow(page[1:])
	c.members("lab-control-plane-1", "lab-control-plane-2", "lab-control-plane-3")
	c.asInGit()
}

// destroy leaves nothing in the project but what was there before.
func (c *cloud) destroy() {
	if output := c.must("destroy", "lab", "--yes-destroy", "lab"); strings.Contains(output, "not done") || strings.Contains(output, "error") {
		c.t.Error("something went wrong, or nobody looked whether controllers have to be stopped first")
	}
	c.project.Settle()
	if left := c.project.Objects(c.t); len(left) > 0 {
		c.t.Errorf("destroy has left %q", left)
	}
}

// applyKilled is apply, whose first runs are killed.
func (c *cloud) applyKilled() {
	const kills, seconds = 3, 20
	for range kills {
		c.killed(seconds, applyCommand()...)
	}
	c.apply()
}

// private is a cluster whose nodes are reached through the NAT gateway only, and whose control planes
// are in a location.
func private(controlPlanes, workers int, location string) string {
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
    location: %s
    privateVip: false
    acknowledgeEvenCount: true
  workers:
    nodepools:
      - name: worker
        count: %d
        type: cpx22
`, cloudenv.SSHKey, controlPlanes, location, workers)
}
