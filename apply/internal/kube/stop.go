package kube

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
)

// argoController is the program of Argo CD that applies objects.
const argoController = "argocd-application-controller"

// order is what has to stop before a cluster is removed, by the names of images or
// programs, one group after the other: the operator of Flux would start Flux again,
// Flux or Argo CD the others, the autoscaler makes servers, and the cloud controller load
// balancers and routes.
var order = [][]string{
	{"flux-operator"},
	{"kustomize-controller", "helm-controller", argoController},
	{"cluster-autoscaler"},
	{"hcloud-cloud-controller-manager"},
}

const (
	// nowhere is a label that no node has.
	nowhere = "talosgen.dev/stopped"
	// A group has this long to stop: a pod gets 30 seconds by default.
	stopWithin = time.Minute
)

// StopControllers stops what would make servers, load balancers or routes while
// the cluster is removed, and waits until it has. It returns what it told to
// stop. What cannot be stopped does not spare the rest; only an API that is
// silent (see [Silent]) ends it.
func (c *Client) StopControllers(ctx context.Context) (stopped []string, err error) {
	s := stopper{c}
	all, err := s.workloads(ctx)
	if err != nil {
		return nil, err
	}
	var problems diag.List
	for _, images := range order {
		if err := s.letArgoWait(ctx, images, all); err != nil {
			return stopped, err
		}
		var reported []workload
		for _, w := range all {
			if !w.runs(images) || w.stopped() {
				continue
			}
			switch err := s.stop(ctx, w); {
			case absent(err):
			case Silent(err) || ctx.Err() != nil:
				return stopped, err
			case err != nil:
				problems.AddErr(err)
			default:
				reported, stopped = append(reported, w), append(stopped, w.String())
			}
		}
		if err := s.wait(ctx, reported); Silent(err) || ctx.Err() != nil {
			return stopped, err
		} else if err != nil {
			problems.AddErr(err)
		}
	}
	return stopped, problems.Err()
}

// stopper stops workloads.
type stopper struct{ client *Client }

// letArgoWait tells Argo CD to leave its Applications alone, if it is among what stops
// now: it sees at once that its own controller is to stop, and would set that back.
func (s stopper) letArgoWait(ctx context.Context, names []string, all []workload) error {
	if !slices.Contains(names, argoController) || !slices.ContainsFunc(all, func(w workload) bool { return w.runs([]string{argoController}) && !w.stopped() }) {
		return nil
	}
	k, err := s.client.discover(ctx)
	if err != nil {
		return err
	}
	at, found := k.find(applications)
	if !found {
		return nil
	}
	var each []kubeplan.ID
	err = s.client.in(at, "").list(ctx, metav1.ListOptions{}, func(o map[string]any) error {
		each = append(each, kubeplan.Object(o).ID())
		return nil
	})
	patch := map[string]any{"metadata": map[string]any{"annotations": map[string]string{kubeplan.SkipReconcile: "true"}}}
	for _, id := range each {
		if err == nil {
			_, err = s.client.in(at, id.Namespace).patch(ctx, id.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
		}
		if absent(err) {
			err = nil
		}
	}
	return err
}

// stop tells a workload to run nothing.
func (s stopper) stop(ctx context.Context, w workload) error {
	patch, sub := map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"nodeSelector": map[string]string{nowhere: "true"},
	}}}}, []string(nil)
	if w.resource != daemonSets {
		patch, sub = map[string]any{"spec": map[string]any{"replicas": 0}}, []string{"scale"}
	}
	_, err := s.client.in(w.resource, w.Namespace).patch(ctx, w.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager}, sub...)
	return err
}

// wait waits until nothing is left of workloads. Those that go on running are
// in the error, each.
func (s stopper) wait(ctx context.Context, reported []workload) error {
	waiting := s.client.waitFor(stopWithin)
	var problems diag.List
	for _, w := range reported {
		for {
			now, err := s.workload(ctx, w)
			if absent(err) || err == nil && now.stopped() {
				break
			}
			if err == nil && waiting.over() {
				err = diag.On("Kubernetes API", "%s", stillRuns(now)).WithCode(diag.NotReady)
			}
			if err == nil {
				err = waiting.pause(ctx)
			}
			if Silent(err) || ctx.Err() != nil {
				return err
			}
			if err != nil {
				problems.AddErr(err)
				break
			}
		}
	}
	return problems.Err()
}

func stillRuns(w workload) string {
	if !w.none {
		return fmt.Sprintf("%s was started again", w)
	}
	return fmt.Sprintf("%s still runs after %s", w, stopWithin)
}
