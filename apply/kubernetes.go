package apply

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/internal/progress"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/apply/plan/kube/kubetree"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/secret"
)

const (
	// kubernetesPatience is how long a request is repeated that gets no answer:
	// an API server that restarts is away for a while.
	kubernetesPatience = 2 * time.Minute
	// bornWithin is how long the API of a cluster takes that was bootstrapped a
	// moment ago: its images are pulled.
	bornWithin = 10 * time.Minute
	bornEvery  = 5 * time.Second
)

// Object is a step with an object of Kubernetes.
type Object = kubeplan.Step

// kubernetesObjects are what the tree wants of Kubernetes, decrypted. The masker
// learns the values of all Secrets.
func (e *Environment) kubernetesObjects(ctx context.Context) (kubeplan.Desired, error) {
	files := map[string][]byte{}
	var problems diag.List
	for name := range e.files {
		if !slices.ContainsFunc(kubetree.Dirs(), func(dir string) bool { return strings.HasPrefix(name, dir+"/") }) {
			continue
		}
		plain, err := e.Decrypt(ctx, name)
		problems.AddErr(err)
		files[name] = []byte(plain.Reveal())
	}
	if err := problems.Err(); err != nil {
		return kubeplan.Desired{}, err
	}
	desired, err := kubetree.Read(e.Infrastructure.Cluster, kubetree.Tree{Env: e.name, Files: files, Normalize: func(o manifest.Object) (manifest.Object, error) {
		normal, err := kube.Normalize(o)
		e.mask(normal)
		return normal, err
	}})
	if err == nil {
		err = e.boots(ctx, &desired)
	}
	return desired, err
}

// mask makes the masker know the values of a Secret.
func (e *Environment) mask(o manifest.Object) {
	if !o.IsSecret() {
		return
	}
	// What does not fit its kind is refused with its value.
	e.masker.Add(secret.New(o.Text("stringData")))
	for _, value := range o.Map("stringData") {
		text, _ := value.(string)
		e.masker.Add(secret.New(text))
	}
	for _, value := range o.Map("data") {
		encoded, _ := value.(string)
		e.masker.Add(secret.New(encoded))
		if plain, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			e.masker.Add(secret.New(string(plain)))
		}
	}
}

// kubernetesDesired reads the objects of the tree, once.
func (s *Session) kubernetesDesired(ctx context.Context) (kubeplan.Desired, error) {
	if s.objects == nil {
		desired, err := s.env.kubernetesObjects(ctx)
		if err != nil {
			return desired, err
		}
		s.objects = &desired
	}
	return *s.objects, nil
}

// withKubernetes adds the section of Kubernetes to a plan.
func (s *Session) withKubernetes(ctx context.Context, p *Plan, policy Policy) error {
	if s.nodes.Dial == nil || !policy.has(StageKubernetes) || len(policy.Nodes) > 0 || p.Destroy || s.withoutKubernetes() {
		return nil
	}
	desired, err := s.kubernetesDesired(ctx)
	if err != nil || len(desired.Items) == 0 {
		return err
	}
	return s.stage("observe Kubernetes", 0, func(stage progress.Stage) error {
		p.objects = policy.Consent
		if p.Nodes != nil && !s.somePlane(p) {
			stage.Step("objects", progress.Note, "no control plane can be used, so what runs in the cluster is not compared")
			return nil
		}
		if !s.mayHaveAPI(p) {
			p.Kubernetes = kubeplan.Make(desired, kubeplan.Observed{}, policy.Consent)
			return nil
		}
		if p.Nodes != nil && s.planned != nil && kube.NotServing(s.planned.Unheard()) {
			return notServing(s.planned.Unheard()) // a moment ago, which costs no second wait
		}
		return s.withAPI(ctx, p.Observed, func(client *kube.Client) error {
			var err error
			p.Kubernetes, err = planKubernetes(ctx, client, desired, policy.Consent)
			return err
		})
	})
}

// notServing is the error of a plan of a cluster whose control planes are there, and
// whose API nobody serves: what cannot be asked is not absent.
func notServing(err error) error {
	return diag.On("Kubernetes API", "does not answer: %s", oneLine(err)).WithCode(diag.Remote).WithCause(err).
		WithHint("`talosgen health` says what is wrong; with --stage infrastructure --stage nodes it is not asked")
}

// withoutKubernetes reports whether the nodes are simulated, and run nothing.
func (s *Session) withoutKubernetes() bool {
	server, _, err := kubernetesServer(s.env.Infrastructure.KubernetesAPI, "")
	return s.local && !s.nodes.Kubernetes && (err != nil || !OnLoopback(server.URL))
}

// resumeKubernetes makes the section of Kubernetes of a saved plan again.
func (s *Session) resumeKubernetes(ctx context.Context, p *Plan, saved *Saved, more Policy) error {
	if saved.Kubernetes == nil {
		return nil
	}
	more.Consent = saved.Kubernetes.Policy.And(more.Consent)
	if err := s.withKubernetes(ctx, p, more); err != nil || p.Kubernetes == nil {
		return err
	}
	if changed := saved.Kubernetes.Stale(p.Kubernetes); len(changed) > 0 {
		return plan.StaleError(p.Cluster, changed...)
	}
	return nil
}

// somePlane reports whether the section of nodes has a control plane that is
// neither away nor refused. Without one there is no API to wait for: the section
// of nodes says what is wrong. Those that wait for the bootstrap are on their way
// up, though nobody can talk to them yet.
func (s *Session) somePlane(p *Plan) bool {
	return bootstraps(p) || slices.ContainsFunc(s.machines(p.Observed, making(p.Plan)), func(m nodes.Machine) bool {
		return m.Role == nodeplan.ControlPlane && !slices.Contains(p.Nodes.Away, m.Name) &&
			!slices.ContainsFunc(p.Nodes.Refusals, func(n plan.Note) bool { return n.Key == plan.Key("node/"+m.Name) })
	})
}

// bootstraps reports whether a plan bootstraps the cluster.
func bootstraps(p *Plan) bool {
	return p.Nodes != nil && slices.ContainsFunc(p.Nodes.Steps, func(step Step) bool { return step.Action == nodeplan.Bootstrap })
}

// mayHaveAPI reports whether the cluster has been bootstrapped, as far as the
// section of nodes knows. One that has been must answer: what cannot be asked is
// not absent.
func (s *Session) mayHaveAPI(p *Plan) bool {
	if bootstraps(p) {
		return false
	}
	return len(s.planes(p.Observed, making(p.Plan))) > 0
}

// planes are the control planes that are there.
func (s *Session) planes(o cloudplan.Observed, making []string) (planes []nodes.Machine) {
	for _, m := range s.machines(o, making) {
		if m.Role == nodeplan.ControlPlane && !m.New && m.Address != "" {
			planes = append(planes, m)
		}
	}
	return planes
}

// api is the API of the control planes that are there. Whoever runs this is let
// in.
func (s *Session) api(ctx context.Context, o cloudplan.Observed) (controlPlaneAPI, error) {
	if err := s.letIn(ctx, o); err != nil {
		return controlPlaneAPI{}, err
	}
	through, err := s.transport(o)
	return controlPlaneAPI{session: s, through: through, planes: s.planes(o, nil)}, err
}

// withAPI does something with a client for the API of the cluster.
func (s *Session) withAPI(ctx context.Context, o cloudplan.Observed, do func(*kube.Client) error) error {
	api, err := s.api(ctx, o)
	if err != nil {
		return err
	}
	client, err := api.clientWith(ctx, s.patience(kubernetesPatience))
	if err != nil {
		return err
	}
	defer client.Close()
	return do(client)
}

// planKubernetes looks, asks what the API would do where that is not certain,
// and plans.
func planKubernetes(ctx context.Context, client *kube.Client, desired kubeplan.Desired, policy Consent) (*kubeplan.Plan, error) {
	observed, err := client.Observe(ctx, desired)
	if err != nil {
		return nil, err
	}
	if observed.Trials, err = client.Trials(ctx, kubeplan.Trials(desired, observed)); err != nil {
		return nil, err
	}
	return kubeplan.Make(desired, observed, policy), nil
}

// changeKubernetes makes the changes that follow from what is there now, if they
// are those that somebody agreed to.
func (s *Session) changeKubernetes(ctx context.Context, r *Report, p *Plan, policy Policy) error {
	if p.Kubernetes == nil {
		return nil
	}
	return s.stage(string(StageKubernetes), len(p.Kubernetes.Changes()), func(stage progress.Stage) error {
		return s.withAPI(ctx, r.Left.Observed, func(client *kube.Client) error {
			if err := s.born(ctx, p.Kubernetes, client, stage); err != nil {
				return err
			}
			if err := s.acquireLease(ctx, stage); err != nil {
				return err
			}
			if err := s.recordOfMachines(ctx, p.older); err != nil {
				return err
			}
			desired, err := s.kubernetesDesired(ctx)
			if err != nil {
				return err
			}
			now, err := planKubernetes(ctx, client, desired, policy.Consent)
			if err != nil {
				return err
			}
			r.Left.Kubernetes = now
			if err := p.Kubernetes.Check(now); err != nil {
				return err
			}
			executor := kube.Executor{Client: client, Stage: stage, Before: s.keepLock}
			return r.executeObjects(ctx, executor, now, func() (*kubeplan.Plan, error) {
				return planKubernetes(ctx, client, desired, policy.Consent)
			})
		})
	})
}

// unborn says how far an API is that is waited for. That a control plane that starts
// does not serve it is no mistake, and is not told like one.
func unborn(err error) string {
	if kube.NotServing(err) {
		return "no control plane serves it yet"
	}
	return oneLine(err)
}

// born waits for the API of a cluster that had none when the plan was made.
func (s *Session) born(ctx context.Context, p *kubeplan.Plan, client *kube.Client, stage progress.Stage) error {
	if p.API {
		return nil
	}
	const step = "wait for the Kubernetes API"
	stage.Step(step, progress.Begun, "")
	end := s.clock.Now().Add(bornWithin)
	for {
		err := client.Alive(ctx)
		if err == nil {
			stage.Step(step, progress.Waited, "")
			return nil
		}
		if errors.Is(err, errNoControlPlane) {
			err = diag.On("Kubernetes API", "no control plane is known that could serve it").
				WithHint("apply the stages before this one too: infrastructure and nodes").WithCode(diag.NotReady).WithCause(err)
		} else if ctx.Err() == nil && !s.clock.Now().Before(end) {
			err = diag.On("Kubernetes API", "is not there %s after the cluster was bootstrapped: %s", bornWithin, oneLine(err)).
				WithHint("`talosgen health` says what the control planes wait for; run this again when they are well").WithCode(diag.NotReady).WithCause(err)
		} else if ctx.Err() == nil {
			stage.Step(step, progress.Note, unborn(err))
			err = s.clock.Sleep(ctx, bornEvery)
			if err == nil {
				continue
			}
		}
		stage.Step(step, progress.Failed, oneLine(err))
		return err
	}
}
