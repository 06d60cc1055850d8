package apply

import (
	"context"

	"github.com/talosgen/talosgen/apply/internal/kube"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/progress"
)

// mayRace is what to expect if controllers could not be stopped.
const mayRace = "the autoscaler or the cloud controller may make a server or a load balancer meanwhile: destroy again if something is left"

// stopper stops what would make servers and load balancers.
type stopper struct {
	kube *kubeReach
	log  *runLog
}

// stop stops them while the cluster is destroyed, if the Kubernetes API answers. That it could not is
// said, and no error: a cluster that is half gone has no API. It reports whether
// anything was stopped.
func (s stopper) stop(ctx context.Context, p *cloudplan.Plan) (stopped bool, err error) {
	err = s.log.stage("controllers", 0, func(stage progress.Stage) error {
		const step = "stop controllers"
		client, why, err := s.client(ctx, p)
		if why != "" {
			stage.Step(step, progress.Done, "not done: "+why)
			return nil
		}
		var names []string
		if err == nil {
			defer client.Close()
			names, err = client.StopControllers(ctx)
		}
		for _, name := range names {
			stopped = true
			stage.Step("stop "+name, progress.Done, "")
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case kube.Silent(err):
			stage.Step(step, progress.Done, "not done, the Kubernetes API does not answer: "+oneLine(err))
		case err != nil:
			stage.Step(step, progress.Failed, oneLine(err)+"; "+mayRace)
		}
		return nil
	})
	return stopped, err
}

// client makes a client for the API of the cluster, which is reached as apply
// reaches it: by the control planes. Or it says why there is nobody to ask.
func (s stopper) client(ctx context.Context, p *cloudplan.Plan) (client *kube.Client, why string, err error) {
	switch {
	case len(p.Observed.Servers) == 0:
		return nil, "there are no servers", nil
	case s.kube.nodes.dial == nil || s.kube.bare:
		return nil, "simulated servers run no Kubernetes", nil
	}
	api, err := s.kube.api(ctx, p.Observed)
	if err != nil {
		return nil, oneLine(err), nil
	}
	client, err = api.clientWith(ctx, 0)
	return client, "", err
}
