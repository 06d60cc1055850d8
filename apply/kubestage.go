package apply

import (
	"context"
	"errors"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
)

const (
	// apiWithin is how long the API of a cluster takes that was bootstrapped a
	// moment ago: its images are pulled.
	apiWithin = 10 * time.Minute
	apiEvery  = 5 * time.Second
)

// kubeStage looks at what runs in the cluster, plans and changes it.
type kubeStage struct {
	kube    *kubeReach
	objects *treeObjects
	clock   cloud.Clock
	log     *runLog
	lock    *locker
	record  treeRecord
	nodes   *nodeStage // what was seen of nodes before
}

// plan adds the section of Kubernetes to a plan.
func (k *kubeStage) plan(ctx context.Context, p *Plan, policy Policy) error {
	if !policy.has(stageKubernetes) || len(policy.Nodes) > 0 || p.Destroy || !k.kube.serves() {
		return nil
	}
	desired, err := k.objects.desired(ctx)
	if err != nil || len(desired.Items) == 0 {
		return err
	}
	return k.log.stage("observe Kubernetes", 0, func(stage progress.Stage) error {
		p.objects = policy.Consent
		if p.Nodes != nil && !k.kube.usable(p) {
			stage.Step("objects", progress.Note, "no control plane can be used, so what runs in the cluster is not compared")
			return nil
		}
		if !k.kube.mayServe(p) {
			p.Kubernetes = kubeplan.Make(desired, kubeplan.Observed{}, policy.Consent)
			return nil
		}
		if err := k.nodes.unheard(); p.Nodes != nil && kube.NotServing(err) {
			return notServing(err) // a moment ago, which costs no second wait
		}
		return k.kube.with(ctx, p.Observed, func(client *kube.Client) error {
			var err error
			if p.Kubernetes, err = planKubernetes(ctx, client, desired, policy.Consent); err != nil {
				return err
			}
			return k.nodes.makers.refuse(ctx, client, p, k.nodes.wanted, k.nodes.seen)
		})
	})
}

// resume makes the section of Kubernetes of a saved plan again.
func (k *kubeStage) resume(ctx context.Context, p *Plan, saved *Saved, more Policy) error {
	if saved.Kubernetes == nil {
		return nil
	}
	more.Consent = saved.Kubernetes.Policy.And(more.Consent)
	if err := k.plan(ctx, p, more); err != nil || p.Kubernetes == nil {
		return err
	}
	if changed := saved.Kubernetes.Stale(p.Kubernetes); len(changed) > 0 {
		return plan.StaleError(p.Cluster, changed...)
	}
	return nil
}

// execute makes the changes that follow from what is there now, if they are those
// that somebody agreed to.
func (k *kubeStage) execute(ctx context.Context, r *run) error {
	agreed := r.agreed.Kubernetes
	if agreed == nil {
		return nil
	}
	return k.log.stage(string(stageKubernetes), len(agreed.Changes()), func(stage progress.Stage) error {
		return k.kube.with(ctx, r.report.Left.Observed, func(client *kube.Client) error {
			if err := k.awaitAPI(ctx, agreed, client, stage, k.kube.unbootstrapped(r)); err != nil {
				return err
			}
			if err := k.lock.acquire(ctx, stage); err != nil {
				return err
			}
			if err := k.record.serving(ctx, r.agreed.older); err != nil {
				return err
			}
			return k.change(ctx, r, client, stage)
		})
	})
}

// change plans from what is there now, and makes the changes.
func (k *kubeStage) change(ctx context.Context, r *run, client *kube.Client, stage progress.Stage) error {
	desired, err := k.objects.desired(ctx)
	if err != nil {
		return err
	}
	again := func() (*kubeplan.Plan, error) { return planKubernetes(ctx, client, desired, r.policy.Consent) }
	now, err := again()
	if err != nil {
		return err
	}
	r.report.Left.Kubernetes = now
	if err := r.agreed.Kubernetes.Check(now); err != nil {
		return err
	}
	return r.report.executeObjects(ctx, kube.Executor{Client: client, Stage: stage, Before: k.lock.held.keep}, now, again)
}

// apiWait says how far an API is that is waited for. That a control plane that starts
// does not serve it is no mistake, and is not told like one.
func apiWait(err error) string {
	if kube.NotServing(err) {
		return "no control plane serves it yet"
	}
	return oneLine(err)
}

// awaitAPI waits for the API of a cluster that had none when the plan was made. Without
// is why it will not come: it is asked once then.
func (k *kubeStage) awaitAPI(ctx context.Context, p *kubeplan.Plan, client *kube.Client, stage progress.Stage, without error) error {
	if p.API {
		return nil
	}
	const step = "wait for the Kubernetes API"
	stage.Step(step, progress.Begun, "")
	end := k.clock.Now().Add(apiWithin)
	for {
		err := client.Alive(ctx)
		if err == nil {
			stage.Step(step, progress.Waited, "")
			return nil
		}
		if errors.Is(err, errNoControlPlane) {
			err = diag.On("Kubernetes API", "no control plane is known that could serve it").
				WithHint("apply the stages before this one too: infrastructure and nodes").WithCode(diag.NotReady).WithCause(err)
		} else if ctx.Err() == nil && without != nil {
			err = without
		} else if ctx.Err() == nil && !k.clock.Now().Before(end) {
			err = diag.On("Kubernetes API", "does not answer within %s: %s", apiWithin, oneLine(err)).
				WithHint("`talosgen health` shows what the control plane nodes wait for; run this again when they are healthy").WithCode(diag.NotReady).WithCause(err)
		} else if ctx.Err() == nil {
			stage.Step(step, progress.Note, apiWait(err))
			err = k.clock.Sleep(ctx, apiEvery)
			if err == nil {
				continue
			}
		}
		stage.Step(step, progress.Failure(err), oneLine(err))
		return err
	}
}

// notServing is the error of a plan of a cluster whose control planes are there, and
// whose API nobody serves: what cannot be asked is not absent.
func notServing(err error) error {
	return diag.On("Kubernetes API", "does not answer: %s", oneLine(err)).WithCode(diag.Remote).WithCause(err).
		WithHint("`talosgen health` shows what is wrong; with --stage infrastructure --stage nodes it is not asked")
}

// planKubernetes looks, asks what the API would do where that is not certain,
// and plans.
func planKubernetes(ctx context.Context, client *kube.Client, desired kubeplan.Desired, policy plan.Consent) (*kubeplan.Plan, error) {
	observed, err := client.Observe(ctx, desired)
	if err != nil {
		return nil, err
	}
	if observed.Trials, err = client.Trials(ctx, kubeplan.Trials(desired, observed)); err != nil {
		return nil, err
	}
	return kubeplan.Make(desired, observed, policy), nil
}
