package apply

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// shipped opens an environment of this repository.
func shipped(t testing.TB, env string) *Environment {
	t.Helper()
	const file = "../envs/example.agekey"
	key, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(context.Background(), Tree{
		Env: env, Files: os.DirFS("../rendered/" + env), Masker: secret.NewMasker(), Version: "0.1.0",
		Keys: sopsage.NewKeys(sopsage.Env{Lookup: func(string) (string, bool) { return "", false }, ReadFile: os.ReadFile}, sopsage.KeyFile{Name: file, Data: key}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The environments that are shipped have owners for all their objects, each one,
// and a plan that says so before there is a cluster.
func TestShippedKubernetes(t *testing.T) {
	for _, env := range []string{"dev", "prod", "home", "talos-k8s"} {
		t.Run(env, func(t *testing.T) {
			e := shipped(t, env)
			desired, err := e.kubernetesObjects(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]bool{}
			for _, item := range desired.Items {
				files[strings.TrimPrefix(item.File, "rendered/"+env+"/")] = true
			}
			for _, name := range e.Files() {
				inKubernetes := strings.HasPrefix(name, "bootstrap/") || strings.HasPrefix(name, "addons/") || strings.HasPrefix(name, "flux/")
				if inKubernetes && !strings.HasSuffix(name, "kustomization.yaml") && !files[name] {
					t.Errorf("nobody makes %s", name)
				}
			}
			p := kubeplan.Make(desired, kubeplan.Observed{}, plan.Consent{})
			if err := errors.Join(p.Problems(), p.Edited()); err != nil || len(p.Changes()) == 0 {
				t.Errorf("the plan is %v\n%s", err, p)
			}
		})
	}
}

// TestShippedStrict lets the real API server look at every object of the shipped
// environments: no field is unknown, no value of another type, nothing refused.
func TestShippedStrict(t *testing.T) {
	c := kubeenv.Start(t, kubeenv.WithFlux())
	for _, name := range []string{"dev", "prod", "home", "talos-k8s"} {
		t.Run(name, func(t *testing.T) {
			desired, err := shipped(t, name).kubernetesObjects(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var items []kubeplan.Item
			for _, item := range desired.Items {
				if item.Object.Kind() == "Namespace" {
					c.Apply(t, "test", false, "{apiVersion: v1, kind: Namespace, metadata: {name: "+item.Object.Name()+"}}")
				}
				if group := item.ID().Group; group != "talos.dev" && group != "cilium.io" { // Talos and Cilium define their kinds themselves
					items = append(items, item)
				}
			}
			if len(items) < 5 {
				t.Fatalf("only %d objects", len(items))
			}
			_, cluster := realCluster(t, c, bootstrapObjects)
			trials, err := cluster.client.Trials(t.Context(), items)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range items {
				if trial := trials[item.ID()]; trial.Result == nil && len(trial.Conflicts) == 0 {
					t.Errorf("%s of %s: %s %s", item.ID(), item.File, trial.Refused, trial.Immutable)
				}
			}
		})
	}
}
