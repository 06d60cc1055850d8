package health

import (
	"context"
	"sync"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/diag"
)

// Source is the API of a node, as far as it is asked.
type Source interface {
	Version(context.Context) (string, error)
	Status(context.Context) (node.Status, error)
	Services(context.Context) ([]node.Service, error)
	Members(context.Context) ([]node.Member, error)
	EtcdStatus(context.Context) (node.EtcdStatus, error)
}

// Target is a node that is asked.
type Target struct {
	Name         string
	ControlPlane bool
	Source       Source
	// Why there is nobody to ask; then there is no Source.
	Err error
}

// Collector reads facts.
type Collector struct {
	Targets []Target
	// Asks the Kubernetes API for its nodes.
	Kubernetes func(context.Context) ([]KubeNode, error)
}

// parallel is how many nodes are asked at once.
const parallel = 16

// Collect asks every node, and the Kubernetes API. What fails is a fact too.
func (c Collector) Collect(ctx context.Context) Facts {
	f := Facts{Nodes: make([]Node, len(c.Targets))}
	var wait sync.WaitGroup
	wait.Go(func() { f.Kubernetes.Nodes, f.Kubernetes.Err = c.Kubernetes(ctx) })
	slots := make(chan struct{}, parallel)
	for i, t := range c.Targets {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			f.Nodes[i] = t.read(ctx)
		})
	}
	wait.Wait()
	return f
}

// read asks one node. The first question that it does not answer is the last.
func (t Target) read(ctx context.Context) Node {
	n := Node{Name: t.Name, ControlPlane: t.ControlPlane, Err: t.Err}
	if n.Err != nil {
		return n
	}
	if n.Version, n.Err = t.Source.Version(ctx); n.Err != nil {
		return n
	}
	if n.Status, n.Err = t.Source.Status(ctx); n.Err != nil {
		return n
	}
	if n.Services, n.Err = t.Source.Services(ctx); n.Err != nil || !t.ControlPlane {
		return n
	}
	// A node without a running etcd would let the question wait.
	if s, ok := n.service("etcd"); !ok || s.State != "Running" {
		n.Etcd.Err = diag.On("node "+t.Name, "%s", noEtcd(s)).WithCode(diag.NotReady)
		return n
	}
	if n.Etcd.Members, n.Etcd.Err = t.Source.Members(ctx); n.Etcd.Err == nil {
		n.Etcd.Status, n.Etcd.Err = t.Source.EtcdStatus(ctx)
	}
	return n
}

func noEtcd(s node.Service) string {
	if s.Name == "" {
		return "it has no etcd"
	}
	return service("its etcd is "+s.State, s.Message)
}
