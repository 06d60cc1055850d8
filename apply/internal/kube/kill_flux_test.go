package kube

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/testenv/kubeenv"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// allStages is a tree with objects of every stage, under names of their own.
func allStages(name, url string) tree {
	in := "namespace: " + name
	fluxIn := "namespace: " + kubeenv.FluxNamespace
	return tree{
		"bootstrap/cilium/a.yaml": strings.Join([]string{
			"{apiVersion: v1, kind: Namespace, metadata: {name: " + name + "}}",
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: cni, " + in + "}, data: {x: one}}",
		}, "\n---\n"),
		"bootstrap/hcloud-ccm/a.yaml": "{apiVersion: v1, kind: Secret, metadata: {name: hcloud, " + in + "}, stringData: {token: x}}",
		"bootstrap/flux/a.yaml":       "{apiVersion: v1, kind: Secret, metadata: {name: sops-age, " + in + "}, stringData: {key: x}}",
		"flux/kustomization.yaml":     "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [manifests.yaml]\n",
		"flux/manifests.yaml": strings.Join([]string{
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: of-flux, " + in + "}, data: {x: one}}",
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: of-flux, " + in + "}, spec: {replicas: 0, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: 'example.org/a:1'}]}}}}",
			"{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: " + name + ", " + fluxIn + "}, spec: {interval: 1h, url: '" + url + "', ref: {branch: main}}}",
			"{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: " + name + ", " + fluxIn + "}, spec: {interval: 1h, prune: true, path: ./rendered/dev/flux, sourceRef: {kind: GitRepository, name: " + name + "}}}",
		}, "\n---\n"),
	}
}

// TestKilledInFlux ends a first run before or after each of its writes, those of
// Flux' own stages too. The next run makes what is left, and Flux has nothing to
// do with what it finds.
func TestKilledInFlux(t *testing.T) {
	if os.Getenv(talosenv.Full) == "" {
		t.Skip("12 runs with Flux: only where " + talosenv.Full + " is set")
	}
	// Not in parallel: tests of one cluster have one inventory.
	c, g := kubeenv.Start(t, kubeenv.WithFlux()), kubeenv.NewGit(t)
	t.Cleanup(func() { forget(t, c) })
	forget(t, c)
	f := &faulty{}
	r := newFaulty(t, c, f)
	r.client.conn.patience, r.client.conn.clock, r.waits.Stage = 0, newPatientClock(), within
	for n := 1; n <= 12; n++ {
		forget(t, c)
		name := fmt.Sprintf("flux-killed-%d", n)
		files := allStages(name, g.URL)
		commit := files.commit(t, g)
		ctx, kill := context.WithCancel(t.Context())
		f.writes = 0
		f.answer = func(at int, q *http.Request) (int, string) {
			if at == n && q.Method != http.MethodGet {
				kill()
				return []int{hangUp, doAndHangUp}[n%2], ""
			}
			return 0, ""
		}
		r.before = func(context.Context) error { return ctx.Err() }
		err := r.try(files)
		f.answer, r.before = nil, nil
		kill()
		if err == nil && f.writes >= n {
			t.Errorf("killed at write %d, and there is no error", n)
		}
		if err := r.try(files); err != nil {
			t.Fatalf("after a kill at write %d: %v", n, err)
		}
		reconciled(t, c, name, commit)
		r.inSync(files)
		for id, o := range r.observe(files.read(t)).Objects {
			for _, e := range kubeplan.Entries(o) {
				if e.Operation == "Apply" && e.Manager == manager && id.Name == "of-flux" {
					t.Errorf("killed at write %d: %s has fields of talosgen", n, id)
				}
			}
		}
	}
}
