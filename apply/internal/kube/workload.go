package kube

import (
	"context"
	"strings"
)

// resources are the kinds of workload that controllers run as.
var resources = []string{deployments, daemonSets}

const (
	deployments = "deployments"
	daemonSets  = "daemonsets"
)

// workload is what is of interest in a Deployment or a DaemonSet.
type workload struct {
	resource string
	Metadata struct {
		Namespace  string `json:"namespace"`
		Name       string `json:"name"`
		Generation int64  `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		Replicas *int `json:"replicas"`
		Template struct {
			Spec struct {
				NodeSelector map[string]string `json:"nodeSelector"`
				Containers   []struct {
					Image string `json:"image"`
				} `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64 `json:"observedGeneration"`
		// Of a Deployment.
		Replicas            int `json:"replicas"`
		TerminatingReplicas int `json:"terminatingReplicas"`
		// Of a DaemonSet.
		CurrentNumberScheduled int `json:"currentNumberScheduled"`
		NumberMisscheduled     int `json:"numberMisscheduled"`
	} `json:"status"`
}

func (w workload) path() string {
	return "/apis/apps/v1/namespaces/" + w.Metadata.Namespace + "/" + w.resource + "/" + w.Metadata.Name
}

// String names it as kubectl does.
func (w workload) String() string {
	return strings.TrimSuffix(w.resource, "s") + " " + w.Metadata.Namespace + "/" + w.Metadata.Name
}

// runs reports whether a container has an image of one of the names.
func (w workload) runs(images []string) bool {
	for _, c := range w.Spec.Template.Spec.Containers {
		for _, name := range images {
			if imageName(c.Image) == name {
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

// told reports whether it was told to run nothing.
func (w workload) told() bool {
	if w.resource == deployments {
		return w.Spec.Replicas != nil && *w.Spec.Replicas == 0
	}
	return w.Spec.Template.Spec.NodeSelector[nowhere] != ""
}

// quiet reports whether nothing of it is left, after its controller has seen
// what it was told.
func (w workload) quiet() bool {
	s := w.Status
	return w.told() && s.ObservedGeneration >= w.Metadata.Generation &&
		s.Replicas+s.TerminatingReplicas+s.CurrentNumberScheduled+s.NumberMisscheduled == 0
}

// list returns the workloads of all namespaces.
func (c *Client) list(ctx context.Context) (all []workload, err error) {
	for _, resource := range resources {
		found, err := listAll[workload](ctx, c, "/apis/apps/v1/"+resource, nil)
		if err != nil {
			return nil, err
		}
		for _, w := range found {
			w.resource = resource
			all = append(all, w)
		}
	}
	return all, nil
}
