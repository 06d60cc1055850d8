//go:build linux

package acceptance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/testenv/cloudenv"
	"github.com/talosgen/talosgen/testenv/talosenv"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// cloud is a user with a project, and with a Git server that the cluster reads.
type cloud struct {
	*user
	project *cloudenv.Project
	git     *talosenv.GitServer
	secrets *canary
	random  *rand.Rand // the same each time
	// Where the control planes are.
	location string
}

// firstLocation is where the control planes begin.
const firstLocation = "hel1"

// newCloud starts a project.
func newCloud(t *testing.T) *cloud {
	t.Helper()
	toolenv.Talosgen(t) // before time is taken
	p := cloudenv.Start(t, talosenv.Options{Kubernetes: true})
	const seed = 8
	c := &cloud{project: p, location: firstLocation, random: rand.New(rand.NewPCG(seed, seed)), git: p.Bed.NewGitServer(t), secrets: newCanary(t, p)}
	c.user = &user{t: t, bed: p.Bed, environ: append(p.Environ(), c.secrets.environ()...), tell: c.secrets.output}
	c.environ = append(c.environ, "SSH_AUTH_SOCK="+startAgent(t, p.KeyFile))
	return c
}

// begin makes the repository: what init writes, the cluster, an addon, and Flux as
// these nodes can run it. The Git server gets the key that talosgen prints.
func (c *cloud) begin() {
	c.repository = c.bed.NewRepositoryOf(c.t, "hetzner", private(3, 1, firstLocation)+talosenv.Addons)
	for name, text := range c.bed.FluxComponents(c.t) {
		c.repository.Write("charts/flux/"+name, text)
	}
	for name, text := range hello {
		c.repository.Write("charts/hello/"+name, text)
	}
	c.describe(3, 1)
	for line := range strings.Lines(c.must("secrets", "sync", "lab")) {
		if strings.HasPrefix(line, "ssh-ed25519 ") {
			c.git.Authorize(c.t, line)
		}
	}
	c.must("render", "lab")
	c.project.AddImages(c.t, filepath.Join(c.repository.Root(), "rendered/lab/infrastructure.yaml"))
	c.publish(c.git.Dir)
	c.secrets.learn(c.t, c.repository)
}

// hello is a chart of the user's own.
var hello = map[string]string{
	"Chart.yaml":  "apiVersion: v2\nname: hello\nversion: 1.0.0\n",
	"values.yaml": "greeting: hello\n",
	"templates/configmap.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  greeting: {{ .Values.greeting | quote }}
`,
}

// describe writes cluster.yaml.
func (c *cloud) describe(controlPlanes, workers int) {
	c.t.Helper()
	c.repository.DescribeCluster(private(controlPlanes, workers, c.location) + fmt.Sprintf(`gitops:
  repository: %s
  knownHosts: [%q]
`, c.git.URL, c.git.KnownHost) + talosenv.Addons + `  flux:
    source: {path: charts/flux}
  hello:
    namespace: default
    source: {chart: {path: charts/hello}}
`)
}

// commit renders, commits, and pushes.
func (c *cloud) commit(message string) {
	c.t.Helper()
	c.must("render", "lab")
	for _, line := range []string{"git add -A", "git commit -q -m '" + message + "'", "git push -q"} {
		if output, err := c.shell(line); err != nil {
			c.t.Fatalf("%s: %v\n%s", line, err, output)
		}
	}
}

// audit looks at what all three are asked.
func (c *cloud) audit() *audit {
	return &audit{user: c.user, controlPlanes: "lab-control-plane-", project: c.project.Sim.Calls}
}

func applyCommand(args ...string) []string {
	return append([]string{"apply", "lab", "--yes"}, args...)
}

// killed runs a command, and kills it within some seconds, at random. Somebody then
// says that it is dead.
func (c *cloud) killed(seconds int64, args ...string) {
	c.t.Helper()
	const begins = time.Second // which nothing happens in
	c.kill(begins+time.Duration(c.random.Int64N(seconds*int64(time.Second))), args...)
	c.project.Settle()
	c.must("unlock", "lab", "--yes")
}

// applied is what apply prints, which has to succeed.
func (c *cloud) applied(args ...string) string {
	c.t.Helper()
	return c.must(applyCommand(args...)...)
}

// asInGit wants all to be as in Git: Hetzner, the nodes, Kubernetes, and what Flux
// runs.
func (c *cloud) asInGit() {
	c.t.Helper()
	c.contains(c.must("plan", "lab"), "lab: nothing to do")
	c.reconcile()
	c.eventually(func(context.Context) error {
		output, err := c.talosgen("status", "lab")
		if err != nil {
			return fmt.Errorf("the cluster is not as in Git: %w\n%s", err, output)
		}
		return nil
	})
}

// members wants etcd to have these, all with a vote.
func (c *cloud) members(want ...string) {
	c.t.Helper()
	output := c.must("etcd", "status", "lab", "-o", "json")
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

// elected waits until those that are left have elected a leader, if it was their leader
// that died: until then none of them knows who the members are.
func (c *cloud) elected() {
	c.t.Helper()
	c.eventually(func(context.Context) error {
		if output, _ := c.talosgen("etcd", "status", "lab", "-o", "json"); !strings.Contains(output, `"leader": true`) {
			return errors.New("etcd has no leader")
		}
		return nil
	})
}

// hetzner is a client that is not talosgen's.
func (c *cloud) hetzner() *hcloud.Client {
	return hcloud.NewClient(hcloud.WithEndpoint(c.project.Endpoint), hcloud.WithToken(c.project.Sim.Token()),
		hcloud.WithPollOpts(hcloud.PollOpts{BackoffFunc: hcloud.ConstantBackoff(100 * time.Millisecond)}))
}

// deleteServers removes servers as somebody does who is not talosgen: their protection
// goes first.
func (c *cloud) deleteServers(names ...string) {
	c.t.Helper()
	ctx, client := c.t.Context(), c.hetzner()
	off := false
	for _, name := range names {
		server, _, err := client.Server.GetByName(ctx, name)
		if err != nil || server == nil {
			c.t.Fatalf("server %s: %v", name, err)
		}
		open, _, err := client.Server.ChangeProtection(ctx, server, hcloud.ServerChangeProtectionOpts{Delete: &off, Rebuild: &off})
		if err != nil {
			c.t.Fatal(err)
		}
		if err := client.Action.WaitFor(ctx, open); err != nil {
			c.t.Fatal(err)
		}
		gone, _, err := client.Server.DeleteWithResult(ctx, server)
		if err != nil {
			c.t.Fatal(err)
		}
		if err := client.Action.WaitFor(ctx, gone.Action); err != nil {
			c.t.Fatal(err)
		}
	}
	c.project.Settle()
}
