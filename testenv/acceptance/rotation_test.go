//go:build linux

package acceptance

import (
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/talosgen/talosgen/testenv/talosenv"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// TestRotation rotates both authorities, the encryption key and both tokens of real nodes
// by talosgen rotate and talosgen apply, while clients ask the Kubernetes API of each
// control plane and the Talos API of each node, with what a person would have: files that
// were written when the page says so. After it the old ones are refused, all that ran
// runs, and a new node joins.
//
// A cluster of the same description is rotated by talosctl rotate-ca: of the two
// authorities, the same fields have changed.
//
// Of pods there are those with the network of their node: there is no other one.
func TestRotation(t *testing.T) {
	toolenv.Nightly(t)
	var byTalosgen, byTalosctl map[string]string
	t.Run("both", func(t *testing.T) {
		t.Run("talosgen", func(t *testing.T) { t.Parallel(); byTalosgen = rotatedByTalosgen(t) })
		t.Run("talosctl", func(t *testing.T) { t.Parallel(); byTalosctl = rotatedByTalosctl(t) })
	})
	if !t.Failed() {
		sameFields(t, byTalosgen, byTalosctl)
	}
}

// rotating is a user who rotates what a cluster has.
type rotating struct {
	*upgrade
	poller *poller
}

// newRotating starts nodes, and makes a repository and a cluster of them.
func newRotating(t *testing.T, controlPlanes int) (*rotating, *timeline) {
	bed := talosenv.Start(t, talosenv.Options{ControlPlanes: controlPlanes, Workers: 1, Talos: "1.14", Kubernetes: true})
	r := &rotating{upgrade: &upgrade{user: &user{t: t, bed: bed}}}
	r.repository = bed.NewRepositoryOf(t, "static", r.cluster())
	r.publish(newRemote(t))
	line := &timeline{t: t, bed: bed}
	line.take("apply", r.made)
	return r, line
}

// cluster describes the nodes that there are. Two control planes are enough for one of
// them to restart.
func (r *rotating) cluster() string {
	return strings.Replace(r.bed.ClusterYAML(), "  controlPlane:\n", "  controlPlane:\n    acknowledgeEvenCount: true\n", 1) + talosenv.Addons
}

func rotatedByTalosgen(t *testing.T) map[string]string {
	r, line := newRotating(t, 2)
	r.store()
	before, pods := r.settings(r.client()), r.pods()
	old := r.access()
	r.poller = r.poll(old)
	line.take("talos-ca: accept, issue, done", func() { r.through("talos-ca") })
	line.take("kubernetes-ca: accept, issue, done", func() { r.through("kubernetes-ca") })
	changed := before.changed(r.settings(r.client()))
	line.take("encryption-key: accept, issue, done", func() { r.through("encryption-key") })
	line.take("machine-token", func() { r.turn("machine-token") })
	line.take("bootstrap-token", func() { r.turn("bootstrap-token") })
	line.take("what was before is refused; what ran runs", func() {
		r.poller.stop()
		r.refuses(old)
		r.kept()
		r.samePods(pods)
		r.must("health", "lab", "--wait", "4m")
		r.registered(r.names()...)
		r.contains(r.must("plan", "lab"), "lab: nothing to do")
	})
	line.take("a worker joins", r.joins)
	line.print()
	return changed
}

// through takes a rotation through its phases. After each the operator writes the files
// for talosctl and kubectl anew; those of before are good for as long as the page says.
func (r *rotating) through(kind string) {
	r.turn(kind)
	accepted := r.access()
	r.poller.use(accepted)
	r.turn(kind, accepted)
	r.poller.use(r.access())
	r.turn(kind)
	r.poller.use(r.access())
	r.contains(r.must("rotate", "lab", kind, "--status"), "no rotation is under way")
	r.contains(r.must("plan", "lab"), "lab: nothing to do")
}

// turn is a phase: rotate, render, commit, apply. In the second one there are also
// clients whose files were written when Git had it already and no node.
func (r *rotating) turn(kind string, before ...access) {
	r.t.Helper()
	r.must("rotate", "lab", kind)
	r.must("render", "lab")
	r.push("rotate " + kind)
	if len(before) > 0 {
		r.poller.use(append(before, r.access())...)
	}
	r.must("apply", "lab", "--yes")
	r.must("health", "lab", "--wait", "4m")
}

// store keeps something in a Secret.
func (r *rotating) store() {
	r.t.Helper()
	r.kubectl(r.kubeconfigFile(), "create", "secret", "generic", "kept", "--from-literal=by=the-old-key")
}

// kept wants it to be there.
func (r *rotating) kept() {
	r.t.Helper()
	secret, err := r.kubernetes().CoreV1().Secrets("default").Get(r.t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	if got := string(secret.Data["by"]); got != "the-old-key" {
		r.t.Errorf("the Secret has %q", got)
	}
}

// pods are those of the workload, with what tells whether one was started again.
func (r *rotating) pods() (all []string) {
	r.t.Helper()
	list, err := r.kubernetes().CoreV1().Pods("shop").List(r.t.Context(), metav1.ListOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range list.Items {
		for _, c := range p.Status.ContainerStatuses {
			all = append(all, p.Name+" "+string(p.Status.Phase)+" "+c.ContainerID)
		}
	}
	slices.Sort(all)
	return all
}

func (r *rotating) samePods(before []string) {
	r.t.Helper()
	if got := r.pods(); len(got) == 0 || !slices.Equal(got, before) {
		r.t.Errorf("the pods were %q, and are %q", before, got)
	}
}

// joins lets one more worker join when the Secret of the old bootstrap token is gone.
func (r *rotating) joins() {
	file := r.kubeconfigFile()
	secrets := strings.Fields(r.kubectl(file, "get", "secrets", "-n", "kube-system", "--field-selector", "type=bootstrap.kubernetes.io/token", "-o", "name"))
	current := r.joinToken()
	if len(secrets) != 2 || !slices.Contains(secrets, "secret/bootstrap-token-"+current) {
		r.t.Fatalf("the bootstrap tokens are %q, one of which should be %s", secrets, current)
	}
	for _, name := range secrets {
		if name != "secret/bootstrap-token-"+current {
			r.kubectl(file, "delete", name, "-n", "kube-system")
		}
	}
	worker, err := r.bed.Boot(r.t.Context(), "worker-2", r.free())
	if err != nil {
		r.t.Fatal(err)
	}
	r.bed.Workers = append(r.bed.Workers, worker)
	r.repository.ChangeCluster(r.cluster())
	r.push("One more worker")
	r.must("apply", "lab", "--yes")
	r.must("health", "lab", "--wait", "4m")
	r.registered(r.names()...)
}

// free is the address after those of all nodes.
func (r *rotating) free() netip.Addr {
	return r.bed.Workers[len(r.bed.Workers)-1].Address.Next()
}

// kubeconfigFile is a file for kubectl.
func (r *rotating) kubeconfigFile() string {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), "kubeconfig")
	r.must("kubeconfig", "lab", "--output", file)
	return file
}
