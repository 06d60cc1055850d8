//go:build linux

package acceptance

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/talosenv"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// TestAdopt makes a cluster of real nodes as people do without talosgen: `talosctl gen
// config` with patches that were written by hand. It is adopted: a plan has nothing to do,
// apply changes no configuration and restarts nothing, and then a change through Git
// arrives.
func TestAdopt(t *testing.T) {
	toolenv.Nightly(t)
	for release, patch := range map[string]string{
		"1.13": `# The proxy opens many connections.
machine:
  sysctls:
    net.core.somaxconn: "2048"
  nodeLabels:
    example.com/rack: attic
  kubelet:
    extraArgs:
      event-qps: "20"
`,
		"1.14": `# The proxy opens many connections.
apiVersion: v1alpha1
kind: SysctlConfig
params:
  net.core.somaxconn: "2048"
---
apiVersion: v1alpha1
kind: KubeNodeConfig
labels:
  example.com/rack: attic
`,
	} {
		t.Run(release, func(t *testing.T) {
			bed := talosenv.Start(t, talosenv.Options{ControlPlanes: 1, Workers: 1, Talos: release, Kubernetes: true})
			a := &adoption{user: &user{t: t, bed: bed}, byHand: bed.NewByHand(t, "attic", patch)}
			line := &timeline{t: t, bed: bed}
			line.take("a cluster by talosctl", a.made)
			line.take("adopt, render, commit", a.adopted)
			line.take("plan and apply: nothing is changed", a.unchanged)
			line.take("a change through Git arrives, and restarts nothing", a.change)
			line.print()
		})
	}
}

// adoption is a user who adopts a cluster.
type adoption struct {
	*user
	byHand *talosenv.ByHand
	client *talosenv.Client
	before map[string]nodeState // by node
}

// nodeState is which configuration a node has, counted from its boot, and since when its
// services run.
type nodeState struct{ version, booted string }

// made makes the cluster with talosctl.
func (a *adoption) made() {
	a.client = a.byHand.Configure(func(n *talosenv.Node) string {
		return "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: off\nhostname: " + n.Name + ".attic.example.com\n"
	})
	cp := a.bed.ControlPlanes[0]
	a.eventually(func(ctx context.Context) error {
		_, err := a.client.Run(ctx, cp, "bootstrap")
		return err
	})
	var workers []string
	for _, n := range a.bed.Workers {
		workers = append(workers, n.Address.String())
	}
	output, err := a.client.Run(a.t.Context(), cp, "health", "--wait-timeout", "6m", "--control-plane-nodes", cp.Address.String(), "--worker-nodes", strings.Join(workers, ","))
	if err != nil {
		a.t.Fatalf("%v\n%s", err, output)
	}
	a.before = a.state()
}

// state asks all nodes for theirs.
func (a *adoption) state() map[string]nodeState {
	a.t.Helper()
	all := map[string]nodeState{}
	for _, n := range a.bed.Nodes() {
		all[n.Name] = nodeState{
			version: a.get(n, "machineconfig", "v1alpha1", "{.metadata.version}"),
			booted:  a.get(n, "machinestatus", "machine", "{.metadata.created}"),
		}
	}
	return all
}

// get asks a node for a resource.
func (a *adoption) get(n *talosenv.Node, kind, id, path string) string {
	a.t.Helper()
	text, err := a.client.Run(a.t.Context(), n, "get", kind, id, "-o", "jsonpath="+path)
	if err != nil || strings.TrimSpace(text) == "" {
		a.t.Fatalf("%s: %s %q: %v", n.Name, kind, text, err)
	}
	return strings.TrimSpace(text)
}

// adoptArgs ask all nodes.
func (a *adoption) adoptArgs(more ...string) []string {
	var addresses []string
	for _, n := range a.bed.Nodes() {
		addresses = append(addresses, n.Address.String())
	}
	return append([]string{"adopt", "attic", "--talosconfig", a.byHand.Talosconfig(), "--nodes", strings.Join(addresses, ",")}, more...)
}

// adopted makes an environment of what runs.
func (a *adoption) adopted() {
	a.repository = talosenv.NewEmptyRepository(a.t)
	a.must(a.adoptArgs("--check")...)
	if _, err := os.Stat(filepath.Join(a.repository.Root(), "envs", "attic")); err == nil {
		a.t.Error("--check has written an environment")
	}
	a.contains(a.must(a.adoptArgs()...), "envs/attic: 2 nodes, ", "all as in the configurations that the nodes run")
	a.must("render", "attic")
	a.publish(newRemote(a.t))
}

// unchanged plans and applies what was adopted.
func (a *adoption) unchanged() {
	a.contains(a.must("plan", "attic"), "nothing to do")
	a.contains(a.must("apply", "attic", "--yes"), "nothing to do")
	a.contains(a.must(a.adoptArgs()...), "nothing changed: it is as it runs already")
	for name, now := range a.state() {
		if now != a.before[name] {
			a.t.Errorf("%s is in another state: %+v, before %+v", name, now, a.before[name])
		}
	}
}

// change changes a value that was written by hand.
func (a *adoption) change() {
	file := filepath.Join(a.repository.Root(), "envs/attic/patches/common.yaml")
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "net.core.somaxconn") {
		a.t.Fatalf("the patch is not there: %v\n%s", err, text)
	}
	a.repository.Write("envs/attic/patches/common.yaml", strings.ReplaceAll(string(text), "2048", "8192"))
	a.must("render", "attic")
	if output, err := a.shell("git add -A && git commit -q -m 'More connections' && git push -q"); err != nil {
		a.t.Fatalf("%v\n%s", err, output)
	}
	a.contains(a.must("apply", "attic", "--yes"), "2 configured: cp-1, worker-1")
	for _, n := range a.bed.Nodes() {
		was, is := a.before[n.Name], nodeState{
			version: a.get(n, "machineconfig", "v1alpha1", "{.metadata.version}"),
			booted:  a.get(n, "machinestatus", "machine", "{.metadata.created}"),
		}
		if is.version == was.version || is.booted != was.booted {
			a.t.Errorf("%s: before %+v, now %+v", n.Name, was, is)
		}
		if value, err := a.client.Run(a.t.Context(), n, "read", "/proc/sys/net/core/somaxconn"); err != nil || strings.TrimSpace(value) != "8192" {
			a.t.Errorf("%s has %s, %v", n.Name, value, err)
		}
	}
	a.contains(a.must("plan", "attic"), "nothing to do")
}
