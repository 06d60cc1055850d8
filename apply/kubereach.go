package apply

import (
	"context"
	"errors"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

const (
	// drainWithin is how long pods may take to leave a node.
	drainWithin = 10 * time.Minute
	// answers is how long a request may take that webhooks look at.
	answers = 30 * time.Second
	// observeWithin is how long whoever only looks repeats a request that somebody
	// refuses, or whose connection breaks: as while an API server starts. Nobody is
	// asked twice who does not answer at all.
	observeWithin = 5 * time.Second
	// apiPort is where control planes serve Kubernetes themselves.
	apiPort = "6443"
)

// kubeReach is the way to the Kubernetes API of a cluster: through its control
// planes, as an administrator.
type kubeReach struct {
	infra     *schemas.Infrastructure
	bare      bool // servers are simulated, and run nothing
	inventory *inventory
	nodes     *nodeReach
	signer    *signer
	clock     cloud.Clock
	held      *heldLock
	calls     *atomic.Int64
	readOnly  bool
	plane     reach.Favourite // the control plane that was reached last
	used      atomic.Pointer[controlPlaneAPI]
}

// serves reports whether the cluster runs Kubernetes, and nodes are not left out.
func (k *kubeReach) serves() bool {
	if k.nodes.dial == nil {
		return false
	}
	server, _, err := kubernetesServer(k.infra.KubernetesAPI, "")
	return !k.bare || err == nil && reach.OnLoopback(server.URL)
}

// api is the API of the control planes that are there. This machine is let in.
func (k *kubeReach) api(ctx context.Context, o cloudplan.Observed) (controlPlaneAPI, error) {
	through, err := k.nodes.enter(ctx, o)
	return controlPlaneAPI{reach: k, through: through, machines: k.inventory.controlPlanes(o, nil)}, err
}

// static is the API of machines that exist already.
func (k *kubeReach) static() (controlPlaneAPI, error) {
	through, err := k.nodes.transport(cloudplan.Observed{})
	return controlPlaneAPI{reach: k, through: through, machines: k.inventory.controlPlanes(cloudplan.Observed{}, nil)}, err
}

// with does something with a client for the API of the cluster.
func (k *kubeReach) with(ctx context.Context, o cloudplan.Observed, do func(*kube.Client) error) error {
	api, err := k.api(ctx, o)
	if err != nil {
		return err
	}
	client, err := api.clientWith(ctx, k.patience(kubernetesPatience))
	if err != nil {
		return err
	}
	defer client.Close()
	return do(client)
}

// patience is how long requests are repeated, by a run that changes something and
// waits for what it has disturbed; who only looks is told soon.
func (k *kubeReach) patience(ofRun time.Duration) time.Duration {
	if !k.held.changing {
		return observeWithin
	}
	return ofRun
}

// client makes a client with an administrator's certificate.
func (k *kubeReach) client(ctx context.Context, o kube.Options) (*kube.Client, error) {
	o, err := k.signer.kubernetes(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = keepingClock{k.clock, k.held}
	}
	o.Calls, o.ReadOnly = k.calls, k.readOnly
	return kube.New(o)
}

// controlPlaneAPI is the API of Kubernetes as control planes serve it, without
// a load balancer in between: the first one that accepts a connection answers, and
// one that is switched off holds nobody up.
type controlPlaneAPI struct {
	reach    *kubeReach
	machines []nodes.Machine
	through  reach.Transport
}

// errNoControlPlane is that there is nobody to connect to.
var errNoControlPlane = errors.New("no control plane is known")

// dial connects to a control plane, whatever the address.
func (k controlPlaneAPI) dial(ctx context.Context, _ string) (net.Conn, error) {
	var addresses []string
	for _, m := range k.machines {
		if m.Address == "" {
			continue
		}
		addresses = append(addresses, at(m, apiPort))
	}
	if len(addresses) == 0 {
		return nil, diag.On("Kubernetes API", "no control plane is known").WithCode(diag.Remote).WithCause(errNoControlPlane)
	}
	return k.reach.plane.First(ctx, k.through, addresses)
}

// at is where a machine serves a port, whatever port its address names.
func at(m nodes.Machine, port string) string {
	host := m.Address
	if h, _, err := net.SplitHostPort(m.Address); err == nil {
		host = h
	}
	return net.JoinHostPort(host, port)
}

// client makes a client with the rights of an administrator.
func (k controlPlaneAPI) client(ctx context.Context) (*kube.Client, error) {
	return k.clientWith(ctx, k.reach.patience(time.Minute))
}

// clientWith makes a client that repeats requests for some time.
func (k controlPlaneAPI) clientWith(ctx context.Context, patience time.Duration) (*kube.Client, error) {
	k.reach.used.Store(&k)
	return k.reach.client(ctx, k.options(kube.Options{Within: answers, Patience: patience, Soon: !k.reach.held.changing}))
}

// options adds where the API is, and how it is reached.
func (k controlPlaneAPI) options(o kube.Options) kube.Options {
	name := k.reach.infra.KubernetesAPI.TLSServerName
	u := url.URL{Scheme: "https", Host: net.JoinHostPort(name, apiPort)}
	o.URL, o.TLSName, o.Dial = u.String(), name, k.dial
	return o
}

// do makes a client for one thing.
func (k controlPlaneAPI) do(ctx context.Context, do func(*kube.Client) error) error {
	client, err := k.client(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	return do(client)
}

// Registered are the nodes that Kubernetes knows.
func (k controlPlaneAPI) Registered(ctx context.Context) (found []kube.Node, err error) {
	err = k.do(ctx, func(c *kube.Client) error {
		found, err = c.Nodes(ctx)
		return err
	})
	return found, err
}

// once lists the nodes that Kubernetes knows, and repeats nothing: whoever asks
// looks again.
func (k controlPlaneAPI) once(ctx context.Context) ([]kube.Node, error) {
	client, err := k.clientWith(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return client.Nodes(ctx)
}

// Drain cordons and drains a node.
func (k controlPlaneAPI) Drain(ctx context.Context, name string, forGood bool, notify func(string)) error {
	return k.do(ctx, func(c *kube.Client) error {
		return c.Drain(ctx, name, kube.DrainOptions{Within: drainWithin, ForGood: forGood, Notify: notify})
	})
}

// Uncordon lets pods in again.
func (k controlPlaneAPI) Uncordon(ctx context.Context, name string) error {
	return k.do(ctx, func(c *kube.Client) error { return c.Uncordon(ctx, name) })
}

// DeleteNode removes a node.
func (k controlPlaneAPI) DeleteNode(ctx context.Context, name string) error {
	return k.do(ctx, func(c *kube.Client) error { return c.DeleteNode(ctx, name) })
}

// kubernetesPatience is how long a request is repeated that gets no answer:
// an API server that restarts is away for a while.
const kubernetesPatience = 2 * time.Minute
