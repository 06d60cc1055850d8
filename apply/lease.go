package apply

import (
	"context"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
)

const (
	// leaseAnswers is how long a request about the lock may take: it is small.
	leaseAnswers = 10 * time.Second
	// leasePatience is how long it is repeated that the API does not answer,
	// before a run goes on without the lock: there may be no cluster yet.
	leasePatience = 3 * time.Second
)

// leaseLock is the lock of machines that exist already: a Lease in their
// Kubernetes.
type leaseLock struct {
	env, cluster string
	kube         *kubeReach
	clock        cloud.Clock // which keeps no lock: it is what the lock is kept with
}

// name is what the Lease is called.
func (l leaseLock) name() string { return l.cluster + "-apply-lock" }

func (l leaseLock) holder(ctx context.Context) (*cloud.Holder, error) {
	return l.ask(ctx, (*kube.Client).LeaseHolder)
}

func (l leaseLock) unlock(ctx context.Context) (*cloud.Holder, error) {
	return l.ask(ctx, (*kube.Client).FreeLease)
}

// acquire takes it. Where no API serves there is none: a cluster that is made has
// no other place for it, and one whose API is down must be mended. That etcd is
// made once does not depend on it.
func (l leaseLock) acquire(ctx context.Context, owner Owner, stage progress.Stage) (lock, error) {
	if l.kube.nodes.dial == nil {
		return nil, nil
	}
	taken, err := kube.AcquireLease(ctx, l.name(), kube.Holder{Owner: owner.Name, Run: owner.Run}, l.client)
	switch {
	case err == nil:
		return taken, nil
	case ctx.Err() == nil && kube.Unavailable(err):
		stage.Step("lock", progress.Note, "no Kubernetes API answers that could keep it: other runs are not kept out")
		return nil, nil
	}
	return nil, err
}

// clean has nothing to remove.
func (l leaseLock) clean(context.Context) error { return nil }

// ask asks the API who holds the lock, or frees it.
func (l leaseLock) ask(ctx context.Context, ask func(*kube.Client, context.Context, string) (*kube.Holder, error)) (*cloud.Holder, error) {
	if l.kube.nodes.dial == nil {
		return nil, diag.On("environment "+l.env, "its machines exist already, and are not reached").WithCode(diag.Usage)
	}
	client, err := l.client(ctx)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	h, err := ask(client, ctx, l.name())
	switch {
	case kube.Unavailable(err):
		return nil, diag.On("lock of the cluster "+l.cluster, "the Kubernetes API that keeps it does not answer: %s", oneLine(err)).
			WithHint("while it is unreachable it excludes no other run, either").WithCode(diag.Remote).WithCause(err)
	case err != nil || h == nil:
		return nil, err
	}
	return &cloud.Holder{Owner: h.Owner, Run: h.Run, Expires: h.Expires}, nil
}

// client talks to the Kubernetes API of machines that exist already.
func (l leaseLock) client(ctx context.Context) (*kube.Client, error) {
	api, err := l.kube.static()
	if err != nil {
		return nil, err
	}
	return l.kube.client(ctx, api.options(kube.Options{Within: leaseAnswers, Patience: leasePatience, Clock: l.clock}))
}
