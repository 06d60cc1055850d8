package apply

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/progress"
	"github.com/talosgen/talosgen/apply/kubeplan"
)

// KubeAccess is how the Kubernetes API of a cluster is reached without asking
// Hetzner where it is.
type KubeAccess struct {
	// The URL of the API; empty: the one in the tree, as for kubectl.
	Server string
	// Public keys whose private half everybody has: see [Cloud].
	Examples []string
	Dial     Dialer
	Clock    Clock
	Random   io.Reader
	// Is told how a run goes on; may be nil.
	Tell func(Event)
}

// Cluster is an environment with the Kubernetes API that it is applied to.
// Close it.
type Cluster struct {
	env     *Environment
	client  *kube.Client
	desired kubeplan.Desired
	clock   Clock
	tell    progress.Sink
}

// KubernetesPlan is what has to be done in Kubernetes; see the package kubeplan.
type KubernetesPlan = kubeplan.Plan

// clusterPatience is how long a request of somebody who waits is repeated.
const clusterPatience = 15 * time.Second

// Kubernetes prepares to talk to the Kubernetes API with an administrator's
// certificate, and makes no request yet.
func (e *Environment) Kubernetes(ctx context.Context, a KubeAccess) (*Cluster, error) {
	server, _, err := kubernetesServer(e.Infrastructure.KubernetesAPI, a.Server)
	if err != nil {
		return nil, err
	}
	if err := e.checkExample(server.URL, a.Examples); err != nil {
		return nil, err
	}
	desired, err := e.kubernetesObjects(ctx)
	if err != nil {
		return nil, err
	}
	s := &Session{env: e, clock: a.Clock, builder: Builder{Random: a.Random}}
	client, err := s.kubeClient(ctx, kube.Options{
		URL: strings.TrimSuffix(server.URL, "/"), TLSName: server.TLSName, Dial: a.Dial, Within: answers, Patience: clusterPatience,
	})
	if err != nil {
		return nil, err
	}
	return &Cluster{env: e, client: client, desired: desired, clock: a.Clock, tell: a.Tell}, nil
}

// Close ends the connections.
func (c *Cluster) Close() { c.client.Close() }

// Plan says what apply would do in Kubernetes.
func (c *Cluster) Plan(ctx context.Context, policy Consent) (*KubernetesPlan, error) {
	return planKubernetes(ctx, c.client, c.desired, policy)
}

// PlanTakeover looks for fields of objects in the tree that older programs own,
// and says whose they become.
func (c *Cluster) PlanTakeover(ctx context.Context) (*KubernetesPlan, error) {
	observed, err := c.client.Observe(ctx, c.desired)
	if err != nil {
		return nil, err
	}
	return kubeplan.Takeover(c.desired, observed), nil
}

// TakeOver makes the changes of a plan of [Cluster.PlanTakeover]. Objects stay as
// they are. It returns what was done, also with an error.
func (c *Cluster) TakeOver(ctx context.Context, p *KubernetesPlan) (done []Object, err error) {
	stage := progress.Begin(c.tell, "take over", len(p.Changes()))
	done, err = (&kube.Executor{Client: c.client, Stage: stage}).TakeOver(ctx, p)
	return done, stage.End(err)
}
