package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
)

// Status is Git against a cluster. It holds no secrets.
type Status struct {
	Cluster string `json:"cluster"`
	// Why the Kubernetes API was not read to its end: what is missing here is not
	// known then.
	Problem string `json:"problem,omitempty"`
	// The version of the Kubernetes API, such as v1.36.4.
	Version      string              `json:"version"`
	Nodes        []NodeStatus        `json:"nodes"`
	Objects      *kubeplan.Plan      `json:"objects"`
	Flux         []FluxStatus        `json:"flux"`
	Certificates []CertificateStatus `json:"certificates"`
	// What is not as Git has it, one line each; none: all is well.
	Differences []string `json:"differences"`
}

// FluxStatus is how far Flux is with a Kustomization of the tree.
type FluxStatus struct {
	Name      string `json:"name"` // namespace/name
	There     bool   `json:"there"`
	Ready     bool   `json:"ready"`
	Suspended bool   `json:"suspended"`
	Message   string `json:"message,omitempty"`
	// What it applied last, such as main@sha1:…, and whether the tree was the
	// same then as it is in Git here.
	Revision string `json:"revision,omitempty"`
	Current  bool   `json:"current"`
}

// SameTree reports whether the rendered tree was, in a commit, as it is now.
type SameTree func(ctx context.Context, commit string) (bool, error)

// Status compares what the tree says with what the cluster has. It changes
// nothing. A status with an error has what could be looked at: the Kubernetes API
// may be away, and certificates are read elsewhere.
func (c *Cluster) Status(ctx context.Context, same SameTree) (*Status, error) {
	s := &Status{Cluster: c.env.Infrastructure.Cluster, Nodes: []NodeStatus{}, Flux: []FluxStatus{}, Differences: []string{}}
	nodes, err := c.wantedNodes(ctx)
	if err != nil {
		return nil, err
	}
	unready, unreachable := c.kubernetesStatus(ctx, s, nodes, same)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if unreachable != nil {
		s.Problem = oneLine(unreachable)
	}
	if s.Certificates, err = c.certificates(ctx); err != nil {
		return nil, err
	}
	s.differences(c.clock.Now(), unready)
	return s, unreachable
}

// kubernetesStatus reads the Kubernetes API, as far as it answers, and returns which
// objects are not ready.
func (c *Cluster) kubernetesStatus(ctx context.Context, s *Status, nodes []NodeStatus, same SameTree) (unready []string, err error) {
	s.Nodes = nodes
	if s.Version, err = c.client.Version(ctx); err != nil {
		return nil, err
	}
	registered, err := c.client.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	s.Nodes = withRegistered(nodes, registered)
	observed, err := c.client.Observe(ctx, c.desired)
	if err != nil {
		return nil, err
	}
	if observed.Trials, err = c.client.Trials(ctx, kubeplan.Trials(c.desired, observed)); err != nil {
		return nil, err
	}
	s.Objects = kubeplan.Make(c.desired, observed, plan.Consent{})
	s.Flux, err = c.fluxStatus(ctx, observed, same)
	return c.unready(observed), err
}

// fluxStatus looks at the Kustomizations that own something of the tree.
func (c *Cluster) fluxStatus(ctx context.Context, observed kubeplan.Observed, same SameTree) ([]FluxStatus, error) {
	var names []string
	for _, item := range c.desired.Items {
		if item.Kustomization != "" && !slices.Contains(names, item.Kustomization) {
			names = append(names, item.Kustomization)
		}
	}
	slices.Sort(names)
	all := []FluxStatus{}
	for _, name := range names {
		k, there := observed.Kustomizations[name]
		f := FluxStatus{Name: name, There: there, Ready: k.Ready, Suspended: k.Suspended, Message: k.Message, Revision: k.Applied}
		// main@sha1:0123…
		if _, commit, found := strings.Cut(k.Applied, "@sha1:"); found {
			var err error
			if f.Current, err = same(ctx, commit); err != nil {
				return all, err
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// unready are the objects of talosgen that are there and not ready.
func (c *Cluster) unready(observed kubeplan.Observed) (lines []string) {
	for _, item := range c.desired.Items {
		live := observed.Objects[item.ID()]
		if item.Kustomization != "" || live == nil {
			continue
		}
		if ready, text := kube.Readiness(live); !ready {
			lines = append(lines, fmt.Sprintf("%s is not ready: %s", item.ID(), text))
		}
	}
	return lines
}

// differences says what is not as it should be.
func (s *Status) differences(now time.Time, unready []string) {
	add := func(format string, args ...any) { s.Differences = append(s.Differences, fmt.Sprintf(format, args...)) }
	for _, n := range s.Nodes {
		switch {
		case n.Unknown:
			continue
		case !n.Registered:
			add("node %s is not in the cluster", n.Name)
			continue
		case !n.Wanted:
			add("node %s is not in Git", n.Name)
		}
		if !n.Ready {
			add("node %s is not ready: %s", n.Name, n.Message)
		}
	}
	for _, v := range s.versions() {
		add("%s", v)
	}
	if s.Objects != nil && !s.Objects.InSync() {
		add("objects: %s", s.Objects.Summary())
	}
	s.Differences = append(s.Differences, unready...)
	for _, f := range s.Flux {
		switch {
		case !f.There:
			add("Kustomization %s is not in the cluster", f.Name)
		case f.Suspended:
			add("Kustomization %s is suspended", f.Name)
		case !f.Ready:
			add("Kustomization %s is not ready: %s", f.Name, f.Message)
		case !f.Current:
			add("Kustomization %s applied %s, and the tree here is another", f.Name, f.Revision)
		}
	}
	for _, c := range s.Certificates {
		switch {
		case c.Problem != "":
			add("the certificate of the %s cannot be read: %s", c.Name, c.Problem)
		case c.Expires.Before(now):
			add("the certificate of the %s has expired on %s", c.Name, c.Expires.UTC().Format(time.DateOnly))
		case c.soon(now):
			add("the certificate of the %s expires on %s", c.Name, c.Expires.UTC().Format(time.DateOnly))
		}
	}
}
