package kube

import (
	"context"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The kinds of workload that controllers run as.
var (
	deployments = resource{appsv1.SchemeGroupVersion.WithResource("deployments"), true}
	daemonSets  = resource{appsv1.SchemeGroupVersion.WithResource("daemonsets"), true}
	statefuls   = resource{appsv1.SchemeGroupVersion.WithResource("statefulsets"), true}
)

// workload is what is of interest in a Deployment, a DaemonSet or a StatefulSet.
type workload struct {
	resource resource
	metav1.ObjectMeta
	pods corev1.PodSpec
	none bool // it was told to run nothing
	left int32
	seen int64 // the generation that its controller has seen
}

func ofDeployment(d appsv1.Deployment) workload {
	s, left := d.Status, d.Status.Replicas
	if s.TerminatingReplicas != nil {
		left += *s.TerminatingReplicas
	}
	return workload{
		resource: deployments, ObjectMeta: d.ObjectMeta, pods: d.Spec.Template.Spec, seen: s.ObservedGeneration,
		none: d.Spec.Replicas != nil && *d.Spec.Replicas == 0,
		left: left,
	}
}

func ofStateful(d appsv1.StatefulSet) workload {
	return workload{
		resource: statefuls, ObjectMeta: d.ObjectMeta, pods: d.Spec.Template.Spec, seen: d.Status.ObservedGeneration,
		none: d.Spec.Replicas != nil && *d.Spec.Replicas == 0,
		left: d.Status.Replicas,
	}
}

func ofDaemonSet(d appsv1.DaemonSet) workload {
	s := d.Status
	return workload{
		resource: daemonSets, ObjectMeta: d.ObjectMeta, pods: d.Spec.Template.Spec, seen: s.ObservedGeneration,
		none: d.Spec.Template.Spec.NodeSelector[nowhere] != "",
		left: s.CurrentNumberScheduled + s.NumberMisscheduled,
	}
}

// String names it as kubectl does.
func (w workload) String() string {
	return strings.TrimSuffix(w.resource.Resource, "s") + " " + w.Namespace + "/" + w.Name
}

// runs reports whether a container has an image of one of the names, or runs a program
// of one: those of Argo CD have one image.
func (w workload) runs(names []string) bool {
	for _, c := range w.pods.Containers {
		if slices.Contains(names, imageName(c.Image)) {
			return true
		}
		for _, words := range [][]string{c.Command, c.Args} {
			if len(words) > 0 && slices.Contains(names, path.Base(words[0])) {
				return true
			}
		}
	}
	return false
}

// imageName is the last part of an image's path, without registry, tag and
// digest: mirrors keep it.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name := image[strings.LastIndex(image, "/")+1:]
	name, _, _ = strings.Cut(name, ":")
	return name
}

// stopped reports whether nothing of it is left, after its controller has seen
// what it was told.
func (w workload) stopped() bool { return w.none && w.seen >= w.Generation && w.left == 0 }

// workloads are those of all namespaces.
func (s stopper) workloads(ctx context.Context) (all []workload, err error) {
	running, err := listAs[appsv1.Deployment](ctx, s.client.in(deployments, ""), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, d := range running {
		all = append(all, ofDeployment(d))
	}
	everywhere, err := listAs[appsv1.DaemonSet](ctx, s.client.in(daemonSets, ""), metav1.ListOptions{})
	for _, d := range everywhere {
		all = append(all, ofDaemonSet(d))
	}
	if err != nil {
		return all, err
	}
	numbered, err := listAs[appsv1.StatefulSet](ctx, s.client.in(statefuls, ""), metav1.ListOptions{})
	for _, d := range numbered {
		all = append(all, ofStateful(d))
	}
	return all, err
}

// workload looks at one again.
func (s stopper) workload(ctx context.Context, w workload) (workload, error) {
	o, err := s.client.in(w.resource, w.Namespace).get(ctx, w.Name)
	if err != nil {
		return w, err
	}
	switch w.resource {
	case deployments:
		var d appsv1.Deployment
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(o, &d)
		return ofDeployment(d), err
	case statefuls:
		var d appsv1.StatefulSet
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(o, &d)
		return ofStateful(d), err
	}
	var d appsv1.DaemonSet
	err = runtime.DefaultUnstructuredConverter.FromUnstructured(o, &d)
	return ofDaemonSet(d), err
}
