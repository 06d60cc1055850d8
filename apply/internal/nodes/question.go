package nodes

import (
	"context"
	"sync"

	"github.com/talosgen/talosgen/apply/internal/kube"
)

// kubeAnswer is what Kubernetes has said in a look.
type kubeAnswer struct {
	known bool // it was asked
	nodes []kube.Node
	err   error
}

// question is what Kubernetes is asked in a look: which nodes it knows. It is asked
// as soon as there is a control plane whose etcd serves, while others are looked at:
// a node that does not answer, and an API that does not, are waited for at the same
// time.
type question struct {
	once sync.Once
	do   func()
	done chan struct{} // nil: it was not asked
	said kubeAnswer
}

// question prepares to ask.
func (c *Cluster) question(ctx context.Context) *question {
	q := &question{}
	q.do = func() {
		if c.Kubernetes == nil {
			return
		}
		q.done = make(chan struct{})
		go func() {
			defer close(q.done)
			nodes, err := c.Kubernetes.Registered(ctx)
			q.said = kubeAnswer{known: true, nodes: nodes, err: err}
		}()
	}
	return q
}

// ask asks, the first time. It does not wait for the answer.
func (q *question) ask() { q.once.Do(q.do) }

// answer waits for the answer, once nobody asks any more.
func (q *question) answer() kubeAnswer {
	if q.done != nil {
		<-q.done
	}
	return q.said
}

// registered are the nodes that Kubernetes knows, as it said in the look before,
// if it was asked.
func (c *Cluster) registered(ctx context.Context) ([]kube.Node, error) {
	if c.kube.known {
		return c.kube.nodes, c.kube.err
	}
	return c.Kubernetes.Registered(ctx)
}

// Unheard says why Kubernetes did not say, in the last look, which nodes it knows;
// nil: it did, or was not asked.
func (c *Cluster) Unheard() error { return c.kube.err }
