//go:build linux

package talosenv

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// Repository is a user's repository, with an environment for a cluster.
type Repository struct {
	t       testing.TB
	root    string
	program string
	head    string // of cluster.yaml
	keyFile string // of the operator
}

const (
	environment = "lab"
	clusterFile = "envs/lab/cluster.yaml"
)

// talosVersions are the versions that nodes run, by release such as 1.14: the two newest,
// which have modules in ../talosnode.
var talosVersions = func() map[string]string {
	known := map[string]string{}
	all := versions.Releases()
	for _, r := range all[len(all)-2:] {
		known[strings.TrimPrefix(r.Contract(), "v")] = r.Talos
	}
	return known
}()

// Kubernetes is the version of the programs, and NextKubernetes the one that nodes can
// be upgraded to, if [Options] ask for it.
const (
	Kubernetes     = "1.36.4"
	NextKubernetes = "1.37.1"
)

// header begins each cluster.yaml.
const header = `apiVersion: talosgen.dev/v1alpha1
clusterName: lab
provider: %s
talos:
  version: %s
kubernetes:
  version: %s
  # Nobody approves certificates here, and without one of its own making Talos
  # could not ask the kubelet for its pods.
  kubelet:
    rotateServerCertificates: false
`

// Addons turns off what there are no images for, and no network of pods. It ends
// cluster.yaml; addons of a test's own may follow.
const Addons = `addons:
  metrics-server:
    enabled: false
  hcloud-ccm:
    enabled: false
  hcloud-csi:
    enabled: false
`

// NewRepository does with talosgen what a user does: init, edits, patches, render. The
// environment is named lab, and has the nodes that there are.
func (c *Cluster) NewRepository(t *testing.T) *Repository {
	t.Helper()

	return c.NewRepositoryOf(t, "static", c.ClusterYAML()+Addons)
}

// NewRepositoryOf makes a repository with another cluster, as cluster.yaml
// describes it below what is the same for all: the name and the versions.
func (c *Cluster) NewRepositoryOf(t *testing.T, provider, cluster string) *Repository {
	t.Helper()

	r := &Repository{t: t, root: filepath.Join(t.TempDir(), "repository"), program: toolenv.Talosgen(t), keyFile: filepath.Join(t.TempDir(), "key.txt")}

	r.talosgen("init", r.root, "--provider", provider, "--env", environment,
		"--talos-version", talosVersions[c.bed.release], "--kubernetes-version", Kubernetes)
	r.head = fmt.Sprintf(header, provider, talosVersions[c.bed.release], Kubernetes)
	r.DescribeCluster(cluster)
	r.Write("envs/lab/cluster.env", "")

	r.writePatches(c)
	r.talosgen("-C", r.root, "secrets", "sync", environment)
	r.talosgen("-C", r.root, "render", environment)

	return r
}

// Environ is what leads programs to the key of the operator.
func (r *Repository) Environ() []string { return []string{"SOPS_AGE_KEY_FILE=" + r.keyFile} }

// KeyFile is where that key is.
func (r *Repository) KeyFile() string { return r.keyFile }

// Root is the folder of the repository.
func (r *Repository) Root() string { return r.root }

// Change writes one of its files, whose name is relative, and renders.
func (r *Repository) Change(name, text string) {
	r.t.Helper()

	r.Write(name, text)
	r.talosgen("-C", r.root, "render", environment)
}

// ChangeCluster describes the cluster anew, as [Cluster.NewRepositoryOf] has it,
// and renders.
func (r *Repository) ChangeCluster(cluster string) {
	r.t.Helper()

	r.DescribeCluster(cluster)
	r.talosgen("-C", r.root, "render", environment)
}

// UseNextKubernetes gives the cluster [NextKubernetes], and renders.
func (r *Repository) UseNextKubernetes(cluster string) {
	r.t.Helper()

	before := r.head
	r.head = strings.Replace(before, "version: "+Kubernetes, "version: "+NextKubernetes, 1)
	r.ChangeCluster(cluster)
	r.head = before
}

// DescribeCluster is [Repository.ChangeCluster] without the render.
func (r *Repository) DescribeCluster(cluster string) {
	r.t.Helper()

	r.Write(clusterFile, r.head+cluster)
}

// Write writes one of its files, whose name is relative.
func (r *Repository) Write(name, text string) {
	r.t.Helper()

	file := filepath.Join(r.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}

	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// MachineConfig is the plain configuration of a node, as talosctl takes it.
func (r *Repository) MachineConfig(n *Node) []byte {
	r.t.Helper()

	return r.talosgen("-C", r.root, "show", environment, n.Name, "--reveal")
}

func (r *Repository) talosgen(args ...string) []byte {
	r.t.Helper()

	var stdout, stderr bytes.Buffer

	command := exec.Command(r.program, args...)
	command.Stdout, command.Stderr = &stdout, &stderr
	command.Env = append(os.Environ(), r.Environ()...)

	if err := command.Run(); err != nil {
		r.t.Fatalf("talosgen %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}

	return stdout.Bytes()
}

// ClusterYAML describes the nodes that there are.
func (c *Cluster) ClusterYAML() string {
	list := func(nodes []*Node, indent string) string {
		var text strings.Builder
		for _, n := range nodes {
			fmt.Fprintf(&text, "%s- { name: %s, match: { mac: %q }, bootAddress: %s, address: %s/24, gateway: %s, installDisk: /dev/sda }\n",
				indent, n.Name, n.MAC, n.Address, n.Address, c.Gateway)
		}

		return text.String()
	}

	text := fmt.Sprintf(`endpoint: https://%s:6443
network:
  nodeCidrs: [%s]
nodes:
  controlPlane:
    nodes:
`, c.ControlPlanes[0].Address, c.network.nodes.Masked())
	text += list(c.ControlPlanes, "      ")

	if len(c.Workers) > 0 {
		text += "  workers:\n    nodepools:\n      - name: worker\n        nodes:\n" + list(c.Workers, "          ")
	}

	return text
}
