package health

import "github.com/talosgen/talosgen/apply/internal/node"

// Facts are what was read of a cluster at one time.
type Facts struct {
	// Every node that is to be well.
	Nodes      []Node
	Kubernetes Kubernetes
}

// Node is what was read of one node.
type Node struct {
	Name         string
	ControlPlane bool
	// Why it could not be read: nothing else is known then.
	Err      error
	Version  string // of Talos
	Status   node.Status
	Services []node.Service
	// Of a control plane.
	Etcd Etcd
}

// Etcd is what the member on a node says.
type Etcd struct {
	// Why it could not be asked, such as that it does not run.
	Err     error
	Members []node.Member
	Status  node.EtcdStatus
}

// Kubernetes is what its API says.
type Kubernetes struct {
	// Why it could not be asked.
	Err   error
	Nodes []KubeNode
}

// KubeNode is a node that is registered in Kubernetes.
type KubeNode struct {
	Name  string
	Ready bool
	// Why it is not ready.
	Message string
	// It is not ready for want of a CNI, and of nothing else that is known.
	NoNetwork bool
	// No pods are placed on it.
	Cordoned bool
}

// service returns a service of the node.
func (n Node) service(name string) (node.Service, bool) {
	for _, s := range n.Services {
		if s.Name == name {
			return s, true
		}
	}
	return node.Service{}, false
}
