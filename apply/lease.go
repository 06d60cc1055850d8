package apply

import (
	"context"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/progress"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
)

const (
	// leaseAnswers is how long a request about the lock may take: it is small.
	leaseAnswers = 10 * time.Second
	// leasePatience is how long it is repeated that the API does not answer,
	// before a run goes on without the lock: there may be no cluster yet.
	leasePatience = 3 * time.Second
)

// leaseName is what the Lease is called that is the lock of the cluster.
func (s *Session) leaseName() string { return s.env.Infrastructure.Cluster + "-apply-lock" }

// acquireLease takes the lock of machines that exist already, unless this run has
// it. Where no API serves there is none: a cluster that is made has no other place
// for it, and one whose API is down must be mended. That etcd is made once does
// not depend on it.
func (s *Session) acquireLease(ctx context.Context, stage progress.Stage) error {
	if s.project != nil || s.lock != nil || s.nodes.Dial == nil {
		return nil
	}
	l, err := kube.AcquireLease(ctx, s.leaseName(), kube.Holder{Owner: s.leaseOwner.Name, Run: s.leaseOwner.Run}, s.leaseClient)
	switch {
	case err == nil:
		s.lock = l
	case ctx.Err() == nil && kube.Unavailable(err):
		stage.Step("lock", progress.Note, "no Kubernetes API answers that could keep it: other runs are not kept out")
		return nil
	}
	return err
}

// leaseHolder asks the API who holds the lock, or frees it.
func (s *Session) leaseHolder(ctx context.Context, ask func(*kube.Client, context.Context, string) (*kube.Holder, error)) (*Holder, error) {
	if s.nodes.Dial == nil {
		return nil, diag.On("environment "+s.env.name, "its machines exist already, and are not reached").WithCode(diag.Usage)
	}
	client, err := s.leaseClient(ctx)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	h, err := ask(client, ctx, s.leaseName())
	switch {
	case kube.Unavailable(err):
		return nil, diag.On("lock of the cluster "+s.env.Infrastructure.Cluster, "the Kubernetes API that keeps it does not answer: %s", oneLine(err)).
			WithHint("while it is away nobody is kept out, either").WithCode(diag.Remote).WithCause(err)
	case err != nil || h == nil:
		return nil, err
	}
	return &Holder{Owner: h.Owner, Run: h.Run, Expires: h.Expires}, nil
}

// leaseClient talks to the Kubernetes API of machines that exist already. Its clock
// does not keep the lock: it is what the lock is kept with.
func (s *Session) leaseClient(ctx context.Context) (*kube.Client, error) {
	through, err := s.transport(cloudplan.Observed{})
	if err != nil {
		return nil, err
	}
	api := controlPlaneAPI{session: s, through: through, planes: s.planes(cloudplan.Observed{}, nil)}
	return s.kubeClient(ctx, api.options(kube.Options{Within: leaseAnswers, Patience: leasePatience, Clock: s.clock}))
}
