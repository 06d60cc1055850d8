package apply

import (
	"context"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/internal/access"
	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node/reach"
	"github.com/talosgen/talosgen/apply/internal/progress"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// adminLifetime is how long the certificate is valid that controllers are
// stopped with.
const adminLifetime = 15 * time.Minute

// mayRace is what to expect if controllers could not be stopped.
const mayRace = "the autoscaler or the cloud controller may make a server or a load balancer meanwhile: destroy again if something is left"

// quiesce prepares a destroy: what makes servers and load balancers is stopped
// before the first deletion. What it made since somebody looked is in the plan
// that is returned, as far as the policy agrees to such things.
func (s *Session) quiesce(ctx context.Context, p *plan.Plan, policy Consent) (*plan.Plan, error) {
	if !p.Destroy || len(p.Changes) == 0 {
		return p, nil
	}
	stopped, err := s.stopControllers(ctx, p)
	if err != nil || !stopped {
		return p, err
	}
	return s.plan(ctx, "observe", func(o plan.Observed) (*plan.Plan, error) { return plan.Destroy(p.Desired, o, policy) })
}

// stopControllers stops what would make servers and load balancers while the
// cluster is destroyed, if the Kubernetes API answers. That it could not is
// said, and no error: a cluster that is half gone has no API. It reports whether
// anything was stopped.
func (s *Session) stopControllers(ctx context.Context, p *plan.Plan) (stopped bool, err error) {
	err = s.stage("controllers", 0, func(stage progress.Stage) error {
		const step = "stop controllers"
		client, why, err := s.kubernetes(ctx, p)
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

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// kubernetes makes a client for the API of the cluster, or says why there is
// nobody to ask.
func (s *Session) kubernetes(ctx context.Context, p *plan.Plan) (client *kube.Client, why string, err error) {
	if len(p.Observed.Servers) == 0 {
		return nil, "there are no servers", nil
	}
	server, known := kubernetesNow(p)
	if !known {
		return nil, "the tree does not say where the Kubernetes API is", nil
	}
	if s.local && !s.nodes.Kubernetes && !OnLoopback(server.URL) {
		return nil, "simulated servers run no Kubernetes", nil
	}
	if s.env.Infrastructure.Access.Jump != "" && s.nodes.Dial != nil {
		return s.kubernetesBehind(ctx, p.Observed)
	}
	authorities, err := s.env.authorities(ctx)
	if err != nil {
		return nil, "", err
	}
	id, err := authorities.Kubernetes.Admin(adminLifetime, s.clock.Now(), s.builder.Random)
	if err != nil {
		return nil, "", err
	}
	s.env.masker.Add(id.Key.Reveal())
	dial := s.builder.Dial
	if dial == nil {
		dial = reach.Direct{}.Dial
	}
	client, err = kube.New(kube.Options{
		URL: strings.TrimSuffix(server.URL, "/"), TLSName: server.TLSName, Authority: authorities.Kubernetes.PEM(),
		Certificate: id.Certificate, Key: id.Key, Dial: dial, Clock: s.clock,
	})
	return client, "", err
}

// kubernetesBehind makes a client for an API that is reached as the nodes are:
// through the server that leads to them.
func (s *Session) kubernetesBehind(ctx context.Context, o plan.Observed) (client *kube.Client, why string, err error) {
	api, err := s.api(ctx, o)
	if err != nil {
		return nil, oneLine(err), nil
	}
	client, err = api.clientWith(ctx, 0)
	return client, "", err
}

// kubernetesNow is where the API is: as the tree says, or else by the public
// address that its load balancer, floating IP or control plane has now.
func kubernetesNow(p *plan.Plan) (server access.Server, known bool) {
	api, now := p.Desired.KubernetesAPI, ""
	if api.ExternalEndpoint == "" {
		now = publicNow(p.Desired, p.Observed, api)
	}
	server, _, err := kubernetesServer(api, now)
	return server, err == nil
}

// publicNow is a URL by what Hetzner has now, with the port that nodes use;
// empty if there is none.
func publicNow(desired schemas.Infrastructure, observed plan.Observed, api schemas.InfraAPI) string {
	inside, err := url.Parse(api.Endpoint)
	if err != nil || inside.Port() == "" {
		return ""
	}
	addresses := plan.Facts(desired, observed)
	for _, s := range observed.Servers {
		addresses = append(addresses, schemas.FactAddress{Kind: schemas.TargetServer, Name: s.Name, IPv4: s.PublicIPv4.IP})
	}
	for _, target := range api.External {
		for _, a := range addresses {
			if a.Kind == target.Kind && a.Name == target.Name && a.IPv4 != "" {
				return "https://" + net.JoinHostPort(a.IPv4, inside.Port())
			}
		}
	}
	return ""
}
