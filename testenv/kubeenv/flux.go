package kubeenv

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FluxNamespace is where Flux runs: its Secrets and sources are looked for
// there by default.
const FluxNamespace = "flux-system"

// controller is one of Flux' controllers, or its operator.
type controller struct {
	name            string
	health, metrics int
	env, args       []string
}

// controllers are those of Flux.
func (c *Cluster) controllers() []controller {
	storage := c.instance.address(portSource)

	// What waits for something else looks again soon, not every 30 seconds.
	kustomize := []string{"--requeue-dependency=1s", "--watch-all-namespaces"}
	if c.config.overridden != "" {
		kustomize = append(kustomize, "--override-manager="+c.config.overridden)
	}

	return []controller{
		{name: "source-controller", health: portSourceHealth, metrics: portSourceMetrics, args: []string{
			"--watch-all-namespaces", "--storage-path=" + c.instance.file("sources"), "--storage-addr=" + storage, "--storage-adv-addr=" + storage,
		}},
		{name: "kustomize-controller", health: portKustomizeHealth, metrics: portKustomizeMetrics, args: kustomize},
		{name: "helm-controller", health: portHelmHealth, metrics: portHelmMetrics, args: []string{"--watch-all-namespaces"}},
	}
}

// startFlux defines Flux's kinds and starts its controllers. They run outside
// of the cluster, as its administrator, and do not know it.
func (c *Cluster) startFlux() error {
	if err := c.defineFluxKinds(); err != nil {
		return err
	}

	kubeconfig, err := c.fluxKubeconfig()
	if err != nil {
		return err
	}

	var waits []func() error

	for _, controller := range c.controllers() {
		wait, err := c.startController(controller, kubeconfig)
		if err != nil {
			return err
		}

		waits = append(waits, wait)
	}

	var errs []error
	for _, wait := range waits {
		errs = append(errs, wait())
	}

	return errors.Join(errs...)
}

// fluxKubeconfig writes the kubeconfig of Flux, and makes the folder of its sources.
func (c *Cluster) fluxKubeconfig() (string, error) {
	user, err := c.keys.client("flux", "system:masters")
	if err != nil {
		return "", err
	}

	if err := os.Mkdir(c.instance.file("sources"), 0o700); err != nil {
		return "", err
	}

	return c.keys.writeKubeconfig(c.URL, user, "flux.kubeconfig")
}

// startController starts one of Flux' controllers, and returns what waits until it is
// ready.
func (c *Cluster) startController(of controller, kubeconfig string) (wait func() error, err error) {
	health := c.instance.address(of.health)

	p, err := c.start(of.name,
		append([]string{"KUBECONFIG=" + kubeconfig, "RUNTIME_NAMESPACE=" + FluxNamespace}, of.env...),
		append(of.args, "--health-addr="+health, "--metrics-addr="+c.instance.address(of.metrics))...)
	if err != nil {
		return nil, err
	}

	return func() error {
		return p.wait(func() error { return healthy(http.DefaultClient, "http://"+health+"/readyz") })
	}, nil
}

// defineFluxKinds applies the custom resource definitions of the controllers
// and waits until the API server serves them.
func (c *Cluster) defineFluxKinds() error {
	names, err := filepath.Glob(filepath.Join(c.programs, "crds", "*.yaml"))
	if err != nil {
		return err
	}

	var definitions []Object

	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}

		applied, err := c.client.apply(manager, true, string(data))
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(name), err)
		}

		definitions = append(definitions, applied...)
	}

	for _, definition := range definitions {
		if err := poll(readyWithin, func() error { return c.client.established(definition) }); err != nil {
			return err
		}
	}

	_, err = c.client.apply(manager, true, "{apiVersion: v1, kind: Namespace, metadata: {name: "+FluxNamespace+"}}")

	return err
}

// established tells whether a custom resource definition is in force.
func (c client) established(definition Object) error {
	path, err := c.path(definition)
	if err != nil {
		return err
	}

	_, definition, err = c.do(http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}

	if status, message := definition.Condition("Established"); status != "True" {
		return fmt.Errorf("%s is not established: %s", path, message)
	}

	return nil
}

// Reconcile makes Flux look at one of its objects now, waits until it has
// done so and is ready, and returns the object.
func (c *Cluster) Reconcile(t testing.TB, path string) Object {
	t.Helper()

	at := time.Now().Format(time.RFC3339Nano)
	c.Patch(t, path, MergePatch, map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"reconcile.fluxcd.io/requestedAt": at}},
	})

	return c.WaitFor(t, path, func(o Object) bool {
		return o.Text("status", "lastHandledReconcileAt") == at && Ready(o)
	}, readyWithin)
}
