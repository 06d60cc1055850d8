package apply

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
)

// KubeAccess is how the Kubernetes API of a cluster is reached without asking
// Hetzner where it is.
type KubeAccess struct {
	// The URL of the API; empty: the one in the tree, as for kubectl.
	Server string
	// Public keys whose private half everybody has: see [Cloud].
	Examples []string
	Dial     image.Dialer
	Clock    cloud.Clock
	Random   io.Reader
	// Is told how a run goes on; may be nil.
	Notify func(progress.Event)
}

// Cluster is an environment with the Kubernetes API that it is applied to.
// Close it, unless it is of a [Session].
type Cluster struct {
	env     *Environment
	client  *kube.Client
	desired kubeplan.Desired
	clock   cloud.Clock
	notify  progress.Sink
	lock    *locker        // nil: whoever uses it does not take it
	nodes   *nodes.Cluster // nil: only the API is reached
}

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
	s := &signer{env: e, clock: a.Clock, random: a.Random}
	options, err := s.kubernetes(ctx, kube.Options{
		URL: strings.TrimSuffix(server.URL, "/"), TLSName: server.TLSName, Dial: a.Dial, Within: answers, Patience: clusterPatience, Clock: a.Clock,
	})
	if err != nil {
		return nil, err
	}
	client, err := kube.New(options)
	if err != nil {
		return nil, err
	}
	return &Cluster{env: e, client: client, desired: desired, clock: a.Clock, notify: a.Notify}, nil
}

// Close ends the connections.
func (c *Cluster) Close() { c.client.Close() }

// Plan says what apply would do in Kubernetes.
func (c *Cluster) Plan(ctx context.Context, policy plan.Consent) (*kubeplan.Plan, error) {
	return planKubernetes(ctx, c.client, c.desired, policy)
}

// PlanTakeover looks for fields of objects in the tree that older programs own,
// and says whose they become.
func (c *Cluster) PlanTakeover(ctx context.Context) (*kubeplan.Plan, error) {
	observed, err := c.client.Observe(ctx, c.desired)
	if err != nil {
		return nil, err
	}
	return kubeplan.Takeover(c.desired, observed), nil
}

// TakeOver makes the changes of a plan of [Cluster.PlanTakeover], if they are still
// those that somebody agreed to, while nobody else applies to the cluster. Objects
// stay as they are. It returns what was done, also with an error.
func (c *Cluster) TakeOver(ctx context.Context, agreed *kubeplan.Plan, owner Owner) (done []kubeplan.Step, err error) {
	take := func(before func(context.Context) error) error {
		now, err := c.PlanTakeover(ctx)
		if err != nil {
			return err
		}
		if err := agreed.Check(now); err != nil {
			return err
		}
		stage := progress.Begin(c.notify, "take over", len(now.Changes()))
		done, err = (&kube.Executor{Client: c.client, Stage: stage, Before: before}).TakeOver(ctx, now)
		return stage.End(err)
	}
	if c.lock == nil {
		err = take(nil)
		return done, err
	}
	err = c.lock.locked(ctx, owner, func() error { return take(c.lock.held.keep) })
	return done, err
}

// accessDenied says why there is no way to the nodes of a cluster, and what to do.
func accessDenied(c *nodes.Cluster) error {
	p := diag.On("cluster "+c.Name, "you are not let in to its nodes: %v", c.Refused).WithCode(diag.Secrets)
	if why := (&diag.Problem{}); errors.As(c.Refused, &why) {
		said := *why
		said.Hint = ""
		p.Message = "you are not let in to its nodes: " + said.Error()
		p.Hint = why.Hint
	}
	return p
}

// noControlPlane says why no control plane can be asked.
func noControlPlane(c *nodes.Cluster, env string) error {
	if c.Refused != nil {
		return accessDenied(c)
	}
	var problems diag.List
	for _, m := range c.Machines {
		if m.Role == nodeplan.ControlPlane {
			problems.Add(diag.On("node "+m.Name, "cannot be asked: %s", m.Unknown).
				WithHint("`talosgen apply %s` makes what is missing; the URL of the Kubernetes API can be named with --server", env).WithCode(diag.Remote))
		}
	}
	return problems.Err()
}
