// Package kubeenv starts a real Kubernetes control plane for tests: etcd,
// kube-apiserver, kube-controller-manager and, if asked for, Flux's
// controllers, all on loopback. testenv/prepare builds the programs; without
// them tests are skipped or fail as testenv/toolenv says.
//
// The package owns the processes and everything that they write. A package
// of tests that shares one cluster has
//
//	func TestMain(m *testing.M) { os.Exit(kubeenv.Run(m)) }
//
// and calls [Start] in each test. Nothing is left behind: the kernel ends the
// processes with the test process however that ends, and whatever remains of
// one that was killed is removed at the next start.
package kubeenv

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/cache"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// readyWithin is how long each step of a start may take. It takes a few
// seconds on a machine that has nothing else to do.
const readyWithin = 2 * time.Minute

// Option changes what [Start] starts.
type Option func(*config)

// config is comparable: clusters are shared by it.
type config struct {
	own           bool
	noControllers bool
	flux          bool
	overridden    string
	operator      string // folder of Flux' operator
	pods          bool
	argo          string // folder of Argo CD
}

// Own asks for a cluster that only this test has, and that ends with it.
func Own() Option { return func(c *config) { c.own = true } }

// WithoutControllerManager leaves out kube-controller-manager: there are no
// service accounts and no garbage collection, and namespaces are never gone.
func WithoutControllerManager() Option { return func(c *config) { c.noControllers = true } }

// WithFlux adds source-, kustomize- and helm-controller with their custom
// resource definitions, in the namespace flux-system.
func WithFlux() Option { return func(c *config) { c.flux = true } }

// WithOverriddenManager adds Flux, whose kustomize-controller takes the fields
// of a field manager away (its flag --override-manager).
func WithOverriddenManager(manager string) Option {
	return func(c *config) { c.flux, c.overridden = true, manager }
}

// WithFluxPods adds what a node would run of Flux: each of its controllers, and its
// operator, as soon as the namespace flux-system has a Deployment of that name, and
// with the arguments of this test bed. Nothing of Flux is there before. There is no
// kube-controller-manager, which would count pods.
func WithFluxPods() Option { return func(c *config) { c.pods, c.noControllers = true, true } }

// Cluster is a running control plane.
type Cluster struct {
	// URL is where the API server is; it wants the certificate that is in
	// the kubeconfig.
	URL string
	// Kubeconfig is the name of a file that gives all rights.
	Kubeconfig string

	config    config
	instance  *instance
	programs  string // folder of the binaries
	keys      *keys
	client    client
	processes []*process
	took      time.Duration // until the API server was ready
	pods      pods
}

// pool holds the clusters that the tests of a package share.
type pool struct {
	mu       sync.Mutex
	running  bool // Run runs
	clusters map[config]*shared
}

type shared struct {
	once    sync.Once
	cluster *Cluster
	err     error
}

var clusters = pool{clusters: map[config]*shared{}}

// Run runs the tests of a package and then ends the clusters that they shared.
// It returns the tests' exit code. The logs of the clusters are kept if a test
// failed.
func Run(m interface{ Run() int }) int {
	clusters.mu.Lock()
	clusters.running = true
	clusters.mu.Unlock()

	code := m.Run()

	clusters.stop(code != 0)

	return code
}

// Start returns the package's cluster with these options, and starts it first
// if it is the first test that asks for it.
func Start(t testing.TB, options ...Option) *Cluster {
	t.Helper()

	var c config
	for _, option := range options {
		option(&c)
	}

	programs := toolenv.Folder(t, "kube")

	if c.pods {
		c.operator = toolenv.Folder(t, "tools/flux-operator")
	}

	state, err := cache.Open()
	if err != nil {
		t.Fatal(err)
	}

	if !c.own {
		cluster, err := clusters.get(c, programs, state.Root)
		if err != nil {
			t.Fatal(err)
		}

		return cluster
	}

	cluster, err := start(c, programs, state.Root)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if logs := cluster.stop(t.Failed()); logs != "" {
			t.Logf("the logs of the cluster are in %s", logs)
		}
	})

	return cluster
}

// get returns the shared cluster of a configuration.
func (p *pool) get(c config, programs, root string) (*Cluster, error) {
	p.mu.Lock()

	if !p.running {
		p.mu.Unlock()
		return nil, fmt.Errorf("a shared cluster needs func TestMain(m *testing.M) { os.Exit(kubeenv.Run(m)) }")
	}

	s := p.clusters[c]
	if s == nil {
		s = &shared{}
		p.clusters[c] = s
	}
	p.mu.Unlock()

	s.once.Do(func() { s.cluster, s.err = start(c, programs, root) })

	return s.cluster, s.err
}

func (p *pool) stop(failed bool) {
	for _, s := range p.clusters {
		if s.cluster == nil {
			continue
		}

		if logs := s.cluster.stop(failed); logs != "" {
			fmt.Fprintf(os.Stderr, "the logs of the cluster are in %s\n", logs)
		}
	}
}

// start starts a cluster, or leaves nothing but its logs.
func start(c config, programs, root string) (*Cluster, error) {
	claimed, err := claim(filepath.Join(root, "run"))
	if err != nil {
		return nil, err
	}

	cluster := &Cluster{config: c, instance: claimed, programs: programs}

	if err := cluster.boot(); err != nil {
		return nil, fmt.Errorf("%w\nthe logs of the cluster are in %s", err, cluster.stop(true))
	}

	return cluster, nil
}

// boot starts the processes one stage after the other.
func (c *Cluster) boot() error {
	if err := c.startControlPlane(); err != nil {
		return err
	}

	if !c.config.noControllers {
		if err := c.startControllerManager(); err != nil {
			return err
		}
	}

	if c.config.flux {
		return c.startFlux()
	}

	if c.config.pods {
		return c.startPods()
	}

	return nil
}

// stop ends the processes. What they wrote is of no use to anybody, so they
// get no time for it. It returns where the logs are if they are to be kept.
func (c *Cluster) stop(keepLogs bool) string {
	c.pods.stop()

	for _, p := range c.processes {
		p.kill()
	}

	return c.instance.release(keepLogs)
}
