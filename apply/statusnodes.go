package apply

import (
	"context"
	"maps"
	"regexp"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/schemas"
)

// NodeStatus is a node in Kubernetes.
type NodeStatus struct {
	Name string `json:"name"`
	// Whether it is in the tree, and whether Kubernetes knows it.
	Wanted     bool `json:"wanted"`
	Registered bool `json:"registered"`
	Ready      bool `json:"ready"`
	Cordoned   bool `json:"cordoned"`
	// Whether Kubernetes did not say: then none of these is known.
	Unknown bool   `json:"unknown,omitempty"`
	Message string `json:"message,omitempty"`
	// The version of its kubelet, and the one that Git has; empty if not known.
	Kubelet string `json:"kubelet,omitempty"`
	Want    string `json:"want,omitempty"`
	// The same of Talos.
	Talos     string `json:"talos,omitempty"`
	WantTalos string `json:"wantTalos,omitempty"`
}

// withRegistered compares the nodes of the tree with those that are registered.
func withRegistered(wanted []NodeStatus, registered []kube.Node) []NodeStatus {
	nodes := map[string]NodeStatus{}
	for _, n := range wanted {
		n.Unknown = false
		nodes[n.Name] = n
	}
	for _, r := range registered {
		n := nodes[r.Name]
		n.Name, n.Registered, n.Ready, n.Cordoned, n.Message, n.Kubelet, n.Talos = r.Name, true, r.Ready, r.Cordoned, r.Message, r.Kubelet, r.Talos
		nodes[r.Name] = n
	}
	all := []NodeStatus{}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		all = append(all, nodes[name])
	}
	return all
}

// nodeNames are the names of the tree's nodes.
func nodeNames(i schemas.Infrastructure) (names []string) {
	for _, s := range i.Servers {
		if s.Role == schemas.RoleControlPlane || s.Role == schemas.RoleWorker {
			names = append(names, s.Name)
		}
	}
	for _, m := range i.Machines {
		names = append(names, m.Name)
	}
	return names
}

// What names the versions in a machine configuration, whatever mirror it comes
// from: the images of the kubelet and of Talos' installer.
var (
	kubeletImage   = regexp.MustCompile(`/kubelet:(v[0-9][^\s"'@]*)`)
	installerImage = regexp.MustCompile(`installer(?:/[^\s:@"']+)?:(v[0-9][^\s"'@]*)`)
)

// versions are those of Kubernetes and Talos that a machine configuration asks for.
func (e *Environment) versions(ctx context.Context, file string) (kubelet, talos string, err error) {
	config, err := e.Decrypt(ctx, file)
	if err != nil {
		return "", "", err
	}
	find := func(r *regexp.Regexp) string {
		if found := r.FindStringSubmatch(config.Reveal()); found != nil {
			return found[1]
		}
		return ""
	}
	return find(kubeletImage), find(installerImage), nil
}
