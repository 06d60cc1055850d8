//go:build linux

package acceptance

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/talosgen/talosgen/testenv/talosenv"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// TestUpgradeKubernetes upgrades real Kubernetes on real nodes twice: by talosgen upgrade,
// whose runs are killed twice, once between API server and controller manager, once with
// a node that is cordoned; and in another cluster of the same description by talosctl
// upgrade-k8s. Every value that one of them changes in the configurations of nodes and in
// the objects of Kubernetes the other one changes too.
//
// The system of nodes in containers has no schematic, so Git's image of Talos is always
// another one, which nothing can install: --kubernetes leaves it alone. There is no
// network of pods, and no kube-proxy.
func TestUpgradeKubernetes(t *testing.T) {
	var byTalosgen, byTalosctl map[string]change
	t.Run("talosgen", func(t *testing.T) { byTalosgen = upgradedByTalosgen(t) })
	t.Run("talosctl", func(t *testing.T) { byTalosctl = upgradedByTalosctl(t) })
	if !t.Failed() && byTalosgen != nil && byTalosctl != nil {
		same(t, byTalosgen, byTalosctl)
	}
}

// newUpgrade starts nodes, and makes a repository for them.
func newUpgrade(t *testing.T) (*upgrade, *timeline) {
	bed := talosenv.Start(t, talosenv.Options{ControlPlanes: 3, Workers: 2, Talos: "1.14", Kubernetes: true, Upgrade: true})
	u := &upgrade{user: &user{t: t, bed: bed, repository: bed.NewRepository(t)}, description: bed.ClusterYAML() + talosenv.Addons}
	u.publish(newRemote(t))
	line := &timeline{t: t, bed: bed}
	line.take("apply: Kubernetes "+talosenv.Kubernetes, u.made)
	return u, line
}

func upgradedByTalosgen(t *testing.T) map[string]change {
	u, line := newUpgrade(t)
	before := u.state()
	line.take("Git has Kubernetes "+talosenv.NextKubernetes, u.pending)
	line.take("talosgen upgrade, killed when an API server is configured", func() { u.killedAfter(`kube-apiserver cp-\d`, upgradeArgs()...) })
	line.take("talosgen upgrade, killed when a kubelet runs and its node is cordoned", func() { u.killedAfter(`kubelet cp-\d`, upgradeArgs()...) })
	line.take("talosgen upgrade, to its end", u.upgraded)
	line.print()
	return before.changes(u.state())
}

func upgradedByTalosctl(t *testing.T) map[string]change {
	u, line := newUpgrade(t)
	before := u.state()
	line.take("talosctl upgrade-k8s", u.upgradedByTalosctl)
	changes := before.changes(u.state())
	line.take("Git has Kubernetes "+talosenv.NextKubernetes+": nothing to do", u.agrees)
	line.print()
	return changes
}

// upgrade is a user who upgrades a cluster.
type upgrade struct {
	*user
	description string // of the nodes
}

// made makes a cluster, and lets something run on its workers.
func (u *upgrade) made() {
	u.must("apply", "lab", "--yes")
	u.must("health", "lab", "--wait", "6m")
	u.registered(u.names()...)
	u.workload()
}

// names are those of all nodes, sorted.
func (u *upgrade) names() (names []string) {
	for _, n := range slices.Concat(u.bed.ControlPlanes, u.bed.Workers) {
		names = append(names, n.Name)
	}
	return names
}

// pending commits the next version: plan and upgrade say what it brings.
func (u *upgrade) pending() {
	u.next()
	output, _ := u.talosgen("plan", "lab") // its exit code is of apply
	u.contains(output, "upgrade pending:", fmt.Sprintf("%s -> %s     %d nodes", talosenv.Kubernetes, talosenv.NextKubernetes, len(u.names())), "lab: nothing to do")
	output, err := u.talosgen("upgrade", "lab", "--kubernetes", "--plan")
	if strings.Contains(output, "manifests v"+talosenv.Kubernetes) {
		u.t.Error("the objects of a new cluster are not as Talos has made them")
	}
	if err == nil {
		u.t.Error("the plan of the upgrade is empty")
	}
	u.contains(output, "kubernetes "+talosenv.NextKubernetes+"\n", "\nmanifests "+talosenv.NextKubernetes+"\n", ", worker-1, worker-2\n")
}

// next commits the next version.
func (u *upgrade) next() {
	u.repository.UseNextKubernetes(u.description)
	u.push("Kubernetes " + talosenv.NextKubernetes)
}

// push commits what was changed.
func (u *upgrade) push(message string) {
	u.t.Helper()
	if output, err := u.shell("git add -A && git commit -q -m '" + message + "' && git push -q"); err != nil {
		u.t.Fatalf("%v\n%s", err, output)
	}
}

func upgradeArgs(args ...string) []string {
	return append([]string{"upgrade", "lab", "--kubernetes", "--yes"}, args...)
}

// killedAfter runs a command, and kills it as soon as it has said that a step is done.
// Somebody then says that it is dead.
func (u *upgrade) killedAfter(step string, args ...string) {
	u.t.Helper()
	args = append([]string{"-C", u.repository.Root()}, args...)
	command := exec.CommandContext(u.t.Context(), toolenv.Talosgen(u.t), args...)
	command.Dir = u.repository.Root()
	command.Env = slices.Concat(os.Environ(), u.repository.Environ(), u.environ)
	out := &trap{until: regexp.MustCompile(`(?m)^ +\[ *\d+/\d+\] ` + step + ` .*\n`), spring: func() { _ = command.Process.Kill() }}
	command.Stdout, command.Stderr = out, out
	err := command.Run()
	u.t.Logf("$ talosgen %s\n%s(killed: %v)", strings.Join(args, " "), out.text.String(), err)
	if command.ProcessState.Exited() {
		u.t.Fatal("it ended before it was killed")
	}
	u.must("unlock", "lab", "--yes")
}

// trap keeps what is written to it, and springs once at a text.
type trap struct {
	mu     sync.Mutex
	text   bytes.Buffer
	until  *regexp.Regexp
	spring func()
	sprung bool
}

func (t *trap) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(data)
	if !t.sprung && t.until.Match(t.text.Bytes()) {
		t.sprung = true
		t.spring()
	}
	return len(data), nil
}

// upgraded goes on where the killed runs were. After it nothing is left to do, for
// upgrade and for apply.
func (u *upgrade) upgraded() {
	u.must(upgradeArgs()...)
	u.must("health", "lab", "--wait", "4m")
	u.contains(u.must("upgrade", "lab", "--kubernetes", "--plan"), "lab, upgrade: nothing to do")
	u.contains(u.must("plan", "lab"), "lab: nothing to do")
	u.running(talosenv.NextKubernetes)
}

// upgradedByTalosctl has the other tool do it.
func (u *upgrade) upgradedByTalosctl() {
	client := u.bed.NewClient(u.t, u.repository.MachineConfig(u.bed.ControlPlanes[0]))
	output, err := client.Run(u.t.Context(), u.bed.ControlPlanes[0], "upgrade-k8s", "--from", talosenv.Kubernetes, "--to", talosenv.NextKubernetes)
	u.t.Logf("$ talosctl upgrade-k8s\n%s", output)
	if err != nil {
		u.t.Fatal(err)
	}
	u.must("health", "lab", "--wait", "4m")
	u.running(talosenv.NextKubernetes)
}

// agrees wants talosgen to find nothing to do where talosctl has upgraded.
func (u *upgrade) agrees() {
	u.next()
	u.contains(u.must("upgrade", "lab", "--kubernetes", "--plan"), "lab, upgrade: nothing to do")
	u.contains(u.must("plan", "lab"), "lab: nothing to do")
}

// workload lets pods run on the workers, which drains evict.
func (u *upgrade) workload() {
	u.t.Helper()
	file := filepath.Join(u.t.TempDir(), "kubeconfig")
	u.must("kubeconfig", "lab", "--output", file)
	manifests := filepath.Join(u.t.TempDir(), "shop.yaml")
	if err := os.WriteFile(manifests, []byte(shop), 0o644); err != nil {
		u.t.Fatal(err)
	}
	u.kubectl(file, "apply", "-f", manifests)
	u.kubectl(file, "wait", "--for=condition=Available", "deployment/shop", "-n", "shop", "--timeout=1m")
}

// shop has a budget that lets one go at a time, and the other worker takes it in.
const shop = `apiVersion: v1
kind: Namespace
metadata:
  name: shop
  labels: {pod-security.kubernetes.io/enforce: privileged}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      hostNetwork: true # there is no other
      terminationGracePeriodSeconds: 1
      containers: [{name: shop, image: registry.k8s.io/pause:3.10}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: shop, namespace: shop}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: shop}}
`

// running wants each program of Kubernetes to be a version, on all nodes.
func (u *upgrade) running(version string) {
	u.t.Helper()
	api := u.kubernetes()
	u.eventually(func(ctx context.Context) error { return u.runs(ctx, api, version) })
}

// Programs that run on each control plane node as static pods.
var staticPrograms = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}

func (u *upgrade) runs(ctx context.Context, api *kubernetes.Clientset, version string) error {
	for _, name := range u.names() {
		n, err := api.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got := n.Status.NodeInfo.KubeletVersion; got != "v"+version {
			return fmt.Errorf("the kubelet of %s is %s, want v%s", name, got, version)
		}
	}
	for _, n := range u.bed.ControlPlanes {
		for _, program := range staticPrograms {
			pod, err := api.CoreV1().Pods(metav1.NamespaceSystem).Get(ctx, program+"-"+n.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if image := pod.Status.ContainerStatuses[0].Image; !strings.HasSuffix(image, ":v"+version) {
				return fmt.Errorf("%s of %s is %s, want v%s", program, n.Name, image, version)
			}
		}
	}
	return nil
}
