package kubeenv

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// fluxOperator is the name of Flux' operator, and of its Deployment.
const fluxOperator = "flux-operator"

// OperatorDir is the folder with what Flux' operator brings: its custom resource
// definitions in crds, and the release of Flux that it installs in data. It is empty
// without [WithFluxPods].
func (c *Cluster) OperatorDir() string { return c.config.operator }

// pods keeps the Deployments of Flux' namespace, as a node would.
type pods struct {
	quit    chan struct{}
	ended   sync.WaitGroup
	running []string
}

// startPods begins to keep them.
func (c *Cluster) startPods() error {
	kubeconfig, err := c.fluxKubeconfig()
	if err != nil {
		return err
	}

	known := append(c.controllers(), controller{
		name: fluxOperator, health: portOperatorHealth, metrics: portOperatorMetrics,
		env: []string{"GODEBUG=fips140=on"}, // it does not run without
		args: []string{
			"--storage-path=" + filepath.Join(c.config.operator, "data"), "--web-server-port=0", "--enable-leader-election=false",
		},
	})

	c.pods.quit = make(chan struct{})
	c.pods.ended.Go(func() {
		for {
			if err := c.keepPods(known, kubeconfig); err != nil {
				c.complain(err)
			}

			select {
			case <-c.pods.quit:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	})

	return nil
}

// stop ends what keeps them.
func (p *pods) stop() {
	if p.quit != nil {
		close(p.quit)
		p.ended.Wait()
	}
}

// complain notes what the next look will perhaps not find any more.
func (c *Cluster) complain(err error) {
	log, openErr := os.OpenFile(c.instance.file(filepath.Join("logs", "pods.log")), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if openErr != nil {
		return
	}
	defer log.Close()

	fmt.Fprintln(log, time.Now().UTC().Format(time.RFC3339), err)
}

// keepPods looks once: what has a Deployment runs, and what runs is ready.
func (c *Cluster) keepPods(known []controller, kubeconfig string) error {
	path := "/apis/apps/v1/namespaces/" + FluxNamespace + "/deployments"

	_, list, err := c.client.do(http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}

	for _, item := range list.List("items") {
		m, _ := item.(map[string]any)
		deployment := Object(m)
		name := deployment.Text("metadata", "name")

		if deployment.Value("status", "observedGeneration") == deployment.Value("metadata", "generation") {
			continue
		}

		i := slices.IndexFunc(known, func(k controller) bool { return k.name == name })
		if i >= 0 && !slices.Contains(c.pods.running, name) {
			wait, err := c.startController(known[i], kubeconfig)
			if err == nil {
				err = wait()
			}

			if err != nil {
				return err
			}

			c.pods.running = append(c.pods.running, name)
		}

		if err := c.counted(path+"/"+name, deployment); err != nil {
			return err
		}
	}

	return nil
}

// counted says that all pods of a Deployment are ready.
func (c *Cluster) counted(path string, deployment Object) error {
	now := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind, reason string) any {
		return map[string]any{"type": kind, "status": "True", "reason": reason, "message": "", "lastTransitionTime": now, "lastUpdateTime": now}
	}

	status, answer, err := c.client.do(http.MethodPatch, path+"/status?fieldManager=kube-controller-manager", MergePatch, map[string]any{
		"status": map[string]any{
			"observedGeneration": deployment.Value("metadata", "generation"),
			"replicas":           1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
			"conditions": []any{condition("Available", "MinimumReplicasAvailable"), condition("Progressing", "NewReplicaSetAvailable")},
		},
	})
	if err == nil && status >= http.StatusBadRequest {
		err = fmt.Errorf("%s: %d: %s", path, status, answer.Text("message"))
	}

	return err
}
