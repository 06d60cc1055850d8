package upgrade_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/versions"
)

// registry is where Git has the programs of Kubernetes.
const registry = "registry.example.com/"

// fleetOf are nodes that run Git's Talos.
func fleetOf(names ...string) map[string]string {
	talos := map[string]string{}
	for _, name := range names {
		talos[name] = "v1.14.1"
	}
	return talos
}

var three = fleetOf("cp-1", "cp-2", "cp-3", "w-1", "w-2", "w-3")

// newKubeWorld is a cluster with a version of Kubernetes, and another one in Git.
func newKubeWorld(t *testing.T, from, to string, talos map[string]string) *world {
	t.Helper()
	return newMixedKubeWorld(t, func(string) string { return from }, to, talos, func(s *talossim.Spec) { s.Schematic = schematic })
}

// newMixedKubeWorld is [newKubeWorld] with a version for each node.
func newMixedKubeWorld(t *testing.T, from func(node string) string, to string, talos map[string]string, change ...func(*talossim.Spec)) *world {
	t.Helper()
	w := newWorldOf(t, nil, from, talos, change...)
	w.want(to)
	objects, err := w.admin("cp-1").Manifests(t.Context())
	w.must(err)
	w.kube.bring(objects) // as machined does
	w.up.Policy.Component = upgradeplan.OnlyKubernetes
	w.up.Policy.Allow = append(w.up.Policy.Allow, upgradeplan.RiskSingle)
	w.up.Programs = w.kube
	w.up.Git = func(name string) (*nodeconfig.Config, error) {
		return nodeconfig.Parse(name, []byte(w.config(name, to)))
	}
	return w
}

// moves lets Git have configurations with documents of Talos 1.14.
func (w *world) moves(version string) {
	for i := range w.up.Desired.Nodes {
		w.up.Desired.Nodes[i].Contract = nodeconfig.ContractDocuments
	}
	w.up.Policy.Component = upgradeplan.Everything
	w.up.Git = func(name string) (*nodeconfig.Config, error) {
		return nodeconfig.Parse(name, []byte(w.documents(name, version)))
	}
}

// documents is the configuration of a node in the contract of Talos 1.14.
func (w *world) documents(name, version string) string {
	images := map[string]string{}
	for _, program := range []string{"kubelet", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"} {
		images[program] = registry + program + ":v" + version
	}
	return w.keys.Documents(name, role(name) == upgradeplan.ControlPlane, images) + w.more[name]
}

// want lets Git have a version of Kubernetes.
func (w *world) want(version string) {
	set := func(want upgradeplan.Want) upgradeplan.Want {
		want.Kubernetes, want.Images = version, map[string]string{}
		for _, program := range []string{"kubelet", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"} {
			want.Images[program] = registry + program + ":v" + version
		}
		return want
	}
	for i := range w.up.Desired.Nodes {
		w.up.Desired.Nodes[i] = set(w.up.Desired.Nodes[i])
	}
	for pool, want := range w.up.Desired.Pools {
		w.up.Desired.Pools[pool] = set(want)
	}
}

// first is the configuration that a node begins with.
func (w *world) first(name string) string {
	if w.kubernetes == nil {
		return w.config(name, "")
	}
	return w.config(name, w.kubernetes(name))
}

// config is the configuration of a node with the images of a version; empty: without.
func (w *world) config(name, version string) string {
	image := func(program string) string { return fmt.Sprintf("{image: \"%s%s:v%s\"}", registry, program, version) }
	var kubelet []string
	if version != "" {
		kubelet = []string{"  kubelet: " + image("kubelet")}
	}
	if role(name) != upgradeplan.ControlPlane {
		return w.keys.Worker(name, kubelet...)
	}
	text := w.keys.ControlPlane(name, kubelet...)
	if version != "" {
		text += fmt.Sprintf("  apiServer: %s\n  controllerManager: %s\n  scheduler: %s\n  proxy: %s\n",
			image("kube-apiserver"), image("kube-controller-manager"), image("kube-scheduler"), image("kube-proxy"))
	}
	return text
}

// serves reports whether an API server of the cluster does; without versions of
// Kubernetes nobody cares.
func (k *fakeKube) serves() bool {
	return k.world.kubernetes == nil || slices.ContainsFunc(k.world.fleet.Machines(), func(m *talossim.Machine) bool {
		return m.Programs()["kube-apiserver"].Ready
	})
}

// StaticPods are those that machines run. Of one that is down, they are not ready.
func (k *fakeKube) StaticPods(ctx context.Context) (all []kube.StaticPod, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, m := range k.world.fleet.Machines() {
		if role(m.Name()) != upgradeplan.ControlPlane {
			continue
		}
		for name, p := range m.Programs() {
			if name != "kubelet" {
				k.pods[m.Name()+" "+name] = kube.StaticPod{Node: m.Name(), Program: name, Image: p.Image, Ready: p.Ready}
			}
		}
		for key, pod := range k.pods {
			if pod.Node == m.Name() {
				pod.Ready = pod.Ready && m.Stage() == node.StageRunning
				k.pods[key] = pod
				all = append(all, pod)
			}
		}
	}
	return all, k.answers(ctx)
}

// Serves is the version of the API server of a machine.
func (k *fakeKube) Serves(_ context.Context, name string) (string, error) {
	p := k.world.fleet.Machine(name).Programs()["kube-apiserver"]
	if !p.Ready {
		return "", unavailable()
	}
	return p.Version(), nil
}

// bring makes objects.
func (k *fakeKube) bring(objects []manifest.Object) {
	k.objects = map[string]string{}
	for _, o := range objects {
		k.objects[o.ID().String()] = fmt.Sprint(o)
	}
}

// Manifests makes objects, one change for each.
func (k *fakeKube) Manifests(ctx context.Context, objects []manifest.Object, dryRun bool) (changed []string, err error) {
	for _, o := range objects {
		id, text := o.ID().String(), fmt.Sprint(o)
		k.mu.Lock()
		differs := k.objects[id] != text
		k.mu.Unlock()
		if !differs {
			continue
		}
		changed = append(changed, id)
		if dryRun {
			continue
		}
		if err := k.change(ctx, "cp-1", func(*kube.Node) { k.objects[id] = text }); err != nil {
			return changed, err
		}
	}
	return changed, ctx.Err()
}

// Unready is what a test has set.
func (k *fakeKube) Unready(ctx context.Context, _ []manifest.Object) ([]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.unready, k.answers(ctx)
}

// upgraded wants every program of every node to be of a version, and every configuration to
// be what it was but for the images.
func (w *world) upgraded(version string) {
	w.Helper()
	w.check()
	if proxy := w.kube.objects["DaemonSet.apps/kube-system/kube-proxy"]; !strings.Contains(proxy, registry+"kube-proxy:v"+version) {
		w.Errorf("kube-proxy is %s", proxy)
	}
	for _, m := range w.fleet.Machines() {
		n := w.kube.nodes[m.Name()]
		if n.Drained || n.Upgrade != "" {
			w.Errorf("%s is drained %v, marked %q", m.Name(), n.Drained, n.Upgrade)
		}
		if want := map[bool]int{true: 4, false: 1}[n.ControlPlane]; len(m.Programs()) != want {
			w.Errorf("%s runs %v", m.Name(), m.Programs())
		}
		for name, p := range m.Programs() {
			if p != (talossim.Program{Image: registry + name + ":v" + version, Ready: true}) {
				w.Errorf("%s runs %v", m.Name(), p)
			}
		}
		if config := m.Config(); config != w.config(m.Name(), version) {
			w.Errorf("%s has another configuration:\n%s", m.Name(), config)
		}
	}
}

// applied are the programs and nodes that were configured, in their order.
func (w *world) applied() []string { return w.began("kube") }

// began are the steps that were begun, by what their names begin with.
func (w *world) began(prefix string) (names []string) {
	for _, text := range w.told {
		if name, is := strings.CutSuffix(text, ": begins"); is && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names
}

// Removed is what a test has set.
func (k *fakeKube) Removed(ctx context.Context, until int) (found []kube.Use, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, u := range k.uses {
		if versions.Minor(u.In) <= until {
			found = append(found, u)
		}
	}
	return found, k.answers(ctx)
}
