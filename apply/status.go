package apply

import (
	"context"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
)

// Status is Git against a cluster. It holds no secrets.
type Status struct {
	Environment string `json:"environment"`
	Cluster     string `json:"cluster"`
	// Why the Kubernetes API was not read to its end: what is missing here is not
	// known then.
	Problem string `json:"problem,omitempty"`
	// The version of the Kubernetes API, such as v1.36.4.
	Version string         `json:"version"`
	Nodes   []NodeStatus   `json:"nodes"`
	Objects *kubeplan.Plan `json:"objects"`
	Flux    []FluxStatus   `json:"flux"`
	// The Applications of Argo CD, where that runs the addons.
	ArgoCD       []FluxStatus        `json:"argocd,omitempty"`
	Certificates []CertificateStatus `json:"certificates"`
	// How long the versions that run are supported.
	Support []supportStatus `json:"support,omitempty"`
	// The rotations that the tree is in the middle of, such as kubernetes-ca.
	Rotations []string `json:"rotations,omitempty"`
	// What firewalls let in beside the rules of the tree, for a while.
	Access []cloudplan.OpenAccess `json:"access,omitempty"`
	// What is not as Git has it, one line each; none: all is well.
	Differences []string `json:"differences"`
}

// FluxStatus is how far Flux is with a Kustomization of the tree, or Argo CD with an
// Application.
type FluxStatus struct {
	Name      string `json:"name"` // namespace/name
	There     bool   `json:"there"`
	Ready     bool   `json:"ready"`
	Suspended bool   `json:"suspended"`
	Message   string `json:"message,omitempty"`
	// What it applied last, such as main@sha1:…, or a commit, and whether the tree was
	// the same then as it is in Git here.
	Revision string `json:"revision,omitempty"`
	Current  bool   `json:"current"`

	engine kubeplan.Engine
}

// supportStatus is until when a version that runs gets patches from its project. That it
// does no more is no difference from Git.
type supportStatus struct {
	Program string `json:"program"`
	Version string `json:"version"`
	// The day on which it ends, if it is known, and whether it has.
	Ends  string `json:"ends,omitempty"`
	Ended bool   `json:"ended"`
	Text  string `json:"text"`
}

// SameTree reports whether the rendered tree was, in a commit, as it is now.
type SameTree func(ctx context.Context, commit string) (bool, error)
