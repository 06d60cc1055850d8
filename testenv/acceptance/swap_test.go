//go:build linux

package acceptance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/talosgen/talosgen/testenv/talosenv"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// TestSwapTalos moves real nodes from Talos 1.13.9 to 1.14.1 with all that they have
// stored, and then their configurations to the documents of 1.14. It is a swapped upgrade:
// talosgen upgrade takes all of its steps, and what answers the calls that install and
// reboot is the test, which starts the other machined on the same files. No installer, no
// bootloader and no other kernel is in it.
func TestSwapTalos(t *testing.T) {
	t.Parallel()
	bed := talosenv.Start(t, talosenv.Options{ControlPlanes: 1, Workers: 1, Talos: "1.13", Kubernetes: true, Swap: true})
	s := &swap{upgrade: &upgrade{user: &user{t: t, bed: bed, repository: bed.NewRepository(t)}, description: bed.ClusterYAML() + talosenv.Addons}}
	s.publish(newRemote(t))
	line := &timeline{t: t, bed: bed}
	line.take("apply: Talos v1.13.9, Kubernetes "+talosenv.Kubernetes, s.made)
	line.take("Git has Talos v1.14.1", s.pending)
	line.take("talosgen upgrade --talos, killed when the control plane node has installed it", s.killed)
	line.take("talosgen upgrade --talos, to its end", s.swapped)
	line.take("talosgen upgrade: the configurations move to the contract of 1.14", s.moved)
	line.take("talosgen apply: nothing that restarts a node is left", s.applied)
	line.print()
}

// swap is a user who upgrades Talos.
type swap struct {
	*upgrade
	swaps  *talosenv.Swaps
	client *kubernetes.Clientset // with a certificate of before
	before map[string]string     // configurations, by node
	whole  []string              // the steps of the upgrade of Talos, before it begins
}

// made makes a cluster, and stores something in it.
func (s *swap) made() {
	s.must("apply", "lab", "--yes")
	s.must("health", "lab", "--wait", "6m")
	s.registered(s.names()...)
	s.client = s.kubernetes()
	file := filepath.Join(s.t.TempDir(), "kubeconfig")
	s.must("kubeconfig", "lab", "--output", file)
	s.kubectl(file, "create", "configmap", "kept", "--from-literal=by=etcd-3.6")
	s.kubectl(file, "create", "secret", "generic", "kept", "--from-literal=by=etcd-3.6")
	s.before = s.configurations()
	s.etcd("3.6.16")
	s.swaps = s.bed.StartSwaps(s.t, s.repository.MachineConfig(s.bed.ControlPlanes[0]))
	s.environ = append(s.environ, "TALOSGEN_PROXY="+s.swaps.URL())
}

// pending commits the next version.
func (s *swap) pending() {
	s.repository.UseLater(s.bed, s.description)
	s.push("Talos v1.14.1")
	output, _ := s.talosgen("plan", "lab") // its exit code is of apply
	s.contains(output, "upgrade pending:", "v1.13.9 -> v1.14.1   2 nodes", "etcd ")
	output, _ = s.talosgen("upgrade", "lab", "--plan")
	s.contains(output, "talos v1.14.1\n", "drain, install, boot       cp-1\nmanifests ", "drain, install, boot       worker-1\n", "C-single", "C-no-return")
	s.whole = s.rehearse(s.audit(), "upgrade", "--talos")
}

// audit looks at what nodes and Kubernetes are asked.
func (s *swap) audit() *audit { return &audit{user: s.user, controlPlanes: "cp-"} }

// talosArgs agree to what one control plane node takes.
func talosArgs(args ...string) []string {
	return append([]string{"upgrade", "lab", "--yes", "--allow", "C-single", "--allow", "C-no-return"}, args...)
}

func (s *swap) killed() {
	s.killedAfter(`install cp-1`, talosArgs("--talos")...)
	if installed, rebooted := s.swaps.Installations(s.bed.ControlPlanes[0]); installed != 1 || rebooted != 0 {
		s.t.Errorf("the killed run has installed %d times and rebooted %d times", installed, rebooted)
	}
}

// swapped goes on where the killed run was: each node boots the other Talos once, with
// what it had.
func (s *swap) swapped() {
	rest := s.asRehearsed(s.rehearse(s.audit(), "upgrade", "--talos"), talosArgs("--talos")...)
	// A run saves etcd before it stops a node; the whole was rehearsed before the first one.
	if rest[0] != "upgrade: snapshot etcd" || !slices.Equal(s.whole[len(s.whole)-len(rest)+1:], rest[1:]) {
		s.t.Errorf("of the rehearsed steps %q those at the end happened as %q", s.whole, rest)
	}
	s.must("health", "lab", "--wait", "4m")
	s.registered(s.names()...)
	for _, n := range s.bed.Nodes() {
		if installed, rebooted := s.swaps.Installations(n); installed != 1 || rebooted != 1 {
			s.t.Errorf("%s was installed %d times and has rebooted %d times", n.Name, installed, rebooted)
		}
	}
	for name, now := range s.configurations() {
		if now != s.before[name] {
			s.t.Errorf("%s has another configuration than before", name)
		}
	}
	s.kept()
	s.etcd("3.7.1")
	s.schedulable()
}

// moved takes the documents of 1.14, which real talosctl finds valid.
func (s *swap) moved() {
	s.must(talosArgs("--allow", "C-contract")...)
	s.must("health", "lab", "--wait", "4m")
	for name, text := range s.configurations() {
		file := filepath.Join(s.t.TempDir(), name+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
		if output, err := s.shell(toolenv.Talosctl(s.t, "1.14") + " validate --strict --mode metal --config " + file); err != nil {
			s.t.Errorf("%s: talosctl validate: %v\n%s", name, err, output)
		}
		s.contains(text, "kind: KubeletConfig")
	}
	s.kept()
	s.contains(s.must("upgrade", "lab", "--plan"), "lab, upgrade: nothing to do")
}

// applied leaves nothing to do, and nothing that an apply disturbs.
func (s *swap) applied() {
	s.must("apply", "lab", "--yes")
	s.must("health", "lab", "--wait", "4m")
	s.contains(s.must("plan", "lab"), "lab: nothing to do")
	for _, n := range s.bed.Nodes() {
		if _, rebooted := s.swaps.Installations(n); rebooted != 1 {
			s.t.Errorf("%s has rebooted %d times", n.Name, rebooted)
		}
	}
	s.kept()
}

// kept wants what was stored before to be there, for who has a certificate of before.
func (s *swap) kept() {
	s.t.Helper()
	configMap, err := s.client.CoreV1().ConfigMaps("default").Get(s.t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	secret, err := s.client.CoreV1().Secrets("default").Get(s.t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	if configMap.Data["by"] != "etcd-3.6" || string(secret.Data["by"]) != "etcd-3.6" {
		s.t.Errorf("Kubernetes has %v and %v", configMap.Data, secret.Data)
	}
}

// schedulable wants no node to be cordoned, and nothing of the upgrade to stand at it but
// what it ran before.
func (s *swap) schedulable() {
	s.t.Helper()
	nodes, err := s.client.CoreV1().Nodes().List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, n := range nodes.Items {
		if n.Spec.Unschedulable || n.Annotations["talosgen.dev/upgrade"] != "" {
			s.t.Errorf("%s is left cordoned or marked: %v", n.Name, n.Annotations)
		}
		if !strings.Contains(n.Status.NodeInfo.OSImage, "v1.14.1") {
			s.t.Errorf("the kubelet of %s says that it runs on %s", n.Name, n.Status.NodeInfo.OSImage)
		}
	}
}

// configurations are those that nodes have, by the real talosctl.
func (s *swap) configurations() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	client := s.bed.NewClient(s.t, s.repository.MachineConfig(s.bed.ControlPlanes[0]))
	for _, n := range s.bed.Nodes() {
		text, err := client.Run(s.t.Context(), n, "get", "machineconfig", "v1alpha1", "-o", "jsonpath={.spec}")
		if err != nil {
			s.t.Fatal(err)
		}
		all[n.Name] = text
	}
	return all
}

// etcd wants the member of the control plane node to be a version.
func (s *swap) etcd(version string) {
	s.t.Helper()
	client := s.bed.NewClient(s.t, s.repository.MachineConfig(s.bed.ControlPlanes[0]))
	output, err := client.Run(s.t.Context(), s.bed.ControlPlanes[0], "etcd", "status")
	if err != nil {
		s.t.Fatal(err)
	}
	s.contains(output, version)
	s.t.Logf("etcd:\n%s", output)
}
