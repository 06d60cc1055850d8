package kubeflags

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// TestFault has what configurations set, and what versions say to it.
func TestFault(t *testing.T) {
	for _, c := range []struct {
		kind, path, value string
		minor             int
		want              string
	}{
		{"", "cluster.apiServer.extraArgs.cloud-provider", "external", 32, ""},
		{"", "cluster.apiServer.extraArgs.cloud-provider", "external", 33, "Kubernetes 1.33 has no flag cloud-provider of kube-apiserver: it ended with 1.33"},
		{"", "cluster.controllerManager.extraArgs.cloud-provider", "external", 37, ""},
		{"KubeletConfig", "extraArgs.pod-infra-container-image", "x", 37, "Kubernetes 1.37 has no flag pod-infra-container-image of kubelet: it ended with 1.35"},
		{"KubeSchedulerConfig", "extraArgs.feature-gates", "SidecarContainers=true, Mine=false", 36, ""},
		{"KubeSchedulerConfig", "extraArgs.feature-gates", "Mine=false, SidecarContainers=true", 37, "Kubernetes 1.37 has no feature gate SidecarContainers of kube-scheduler: it ended with 1.37"},
		{"KubeletConfig", "config.featureGates.SidecarContainers", "true", 37, "Kubernetes 1.37 has no feature gate SidecarContainers of kubelet: it ended with 1.37"},
		{"v1alpha1", "machine.kubelet.extraConfig.featureGates.SidecarContainers", "true", 36, ""},
		{"v1alpha1", "machine.kubelet.extraConfig.featureGates.SidecarContainers", "true", 37, "Kubernetes 1.37 has no feature gate SidecarContainers of kubelet: it ended with 1.37"},
		{"", "cluster.apiServer.extraArgs.enable-admission-plugins", "NodeRestriction,SecurityContextDeny", 30, "Kubernetes 1.30 has no admission plugin SecurityContextDeny of kube-apiserver: it ended with 1.30"},
		{"", "cluster.apiServer.extraArgs.feature-gates", "CloudControllerManagerWatchBasedRoutesReconciliation=true", 34, ""},
		{"", "cluster.apiServer.extraArgs.feature-gates", "UnlockWhileProcessing=true", 33, ""},
		{"KubeAPIServerConfig", "extraArgs.feature-gates.#.x", "SidecarContainers=true", 37, ""},
		{"", "cluster.apiServer.extraArgs.feature-gates.#", "SidecarContainers=true", 37, "Kubernetes 1.37 has no feature gate SidecarContainers of kube-apiserver: it ended with 1.37"},
		{"", "cluster.apiServer.extraArgs.cloud-provider.#", "external", 33, "Kubernetes 1.33 has no flag cloud-provider of kube-apiserver: it ended with 1.33"},
		{"", "cluster.etcd.extraArgs.cloud-provider", "x", 37, ""},
	} {
		got := ""
		for _, s := range Of(c.kind, pathOf(c.path), c.value) {
			got += s.Fault(c.minor)
		}
		if got != c.want {
			t.Errorf("%s %s=%s in 1.%d: %q, want %q", c.kind, c.path, c.value, c.minor, got, c.want)
		}
	}
}

// TestImageOf has values of configurations, and whose images they are.
func TestImageOf(t *testing.T) {
	for _, c := range []struct{ kind, path, want string }{
		{"", "cluster.apiServer.image", "kube-apiserver"},
		{"v1alpha1", "machine.kubelet.image", "kubelet"},
		{"KubeSchedulerConfig", "image", "kube-scheduler"},
		{"KubeSchedulerConfig", "extraArgs.image", ""},
		{"KubeletConfig", "machine.kubelet.image", ""},
		{"", "cluster.etcd.image", ""},
		{"", "image", ""},
	} {
		if got := ImageOf(c.kind, pathOf(c.path)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.path, got, c.want)
		}
	}
}

// pathOf reads keys, and # for an item of a list.
func pathOf(text string) (path yamltext.Path) {
	for key := range strings.SplitSeq(text, ".") {
		if key == "#" {
			path = append(path, yamltext.Index(0))
			continue
		}
		path = append(path, yamltext.Key(key))
	}
	return path
}

// TestGates: every minor that Talos runs has its lines, each gate ends after it begins,
// and one that has begun is known to be early for the minor before.
func TestGates(t *testing.T) {
	var minors []int
	for line := range strings.Lines(gatesText) {
		words := strings.Fields(line)
		minor, err := strconv.Atoi(words[0])
		if err != nil || len(words) < 3 || words[1] != "+" && words[1] != "-" {
			t.Errorf("cannot read %q", line)
		}
		minors = append(minors, minor)
	}
	for minor := versions.Oldest().Oldest; minor <= versions.Newest().Newest; minor++ {
		if !slices.Contains(minors, minor) {
			t.Errorf("nothing is known of 1.%d", minor)
		}
	}
	for name, l := range gates() {
		if l.ends > 0 && l.ends <= l.begins {
			t.Errorf("%s begins with 1.%d and ends with 1.%d", name, l.begins, l.ends)
		}
		if s := (Set{Kind: Gate, Name: name}); l.begins > 0 && (!s.Early(l.begins-1) || s.Early(l.begins)) {
			t.Errorf("%s begins with 1.%d, and is not early then", name, l.begins)
		}
	}
}

// TestOfIsCheap: a value that is none of these costs no memory, for a render asks for
// each value of each node.
func TestOfIsCheap(t *testing.T) {
	path := pathOf("cluster.apiServer.certSANs.#")
	if n := testing.AllocsPerRun(100, func() { Of("v1alpha1", path, "10.0.0.1") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
