package apply

import (
	"context"
	"fmt"
	"github.com/talosgen/talosgen/apply/internal/access"
	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sorting"
	"slices"
	"strings"
	"sync"
)

// certificates are those that the cluster stands and falls with: the authorities,
// by which also those in everybody's kubeconfig and talosconfig are signed, and
// what servers show.
func (c *Cluster) certificates(ctx context.Context, s *Status) ([]CertificateStatus, error) {
	authorities, err := c.env.authorities(ctx)
	if err != nil {
		return nil, err
	}
	kinds, err := rotations{c.env}.underWay(ctx)
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		s.Rotations = append(s.Rotations, string(kind))
	}
	all := []CertificateStatus{
		certificateOf("Kubernetes authority", authorities.Kubernetes.Certificate(), false),
		certificateOf("Talos authority", authorities.Talos.Certificate(), false),
	}
	if c.nodes != nil {
		return append(all, c.shown(ctx, authorities)...), ctx.Err()
	}
	if shown := c.client.ServerCertificate(); shown != nil {
		all = append(all, certificateOf("Kubernetes API server", shown, true))
	}
	return all, nil
}

// shown are the certificates of the APIs of nodes, of each node its own.
func (c *Cluster) shown(ctx context.Context, authorities *access.Authorities) []CertificateStatus {
	type server struct {
		name, address string
		by            *access.Authority
	}
	var servers []server
	for _, m := range c.nodes.Machines {
		if m.Address == "" {
			continue // whether it is there is another question
		}
		if m.Role == nodeplan.ControlPlane {
			servers = append(servers, server{"Kubernetes API of " + m.Name, at(m, apiPort), authorities.Kubernetes})
		}
		servers = append(servers, server{"Talos API of " + m.Name, at(m, talosPort), authorities.Talos})
	}
	found := make([]CertificateStatus, len(servers))
	slots := make(chan struct{}, showing)
	var wait sync.WaitGroup
	for i, s := range servers {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			leaf, err := shownBy(ctx, c.nodes.Through.Dial, s.address, s.by)
			if err != nil {
				found[i] = CertificateStatus{Name: s.name, Problem: oneLine(err)}
				return
			}
			found[i] = certificateOf(s.name, leaf, true)
		})
	}
	wait.Wait()
	sorting.By(found, func(a, b CertificateStatus) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// Status compares what the tree says with what the cluster has. It changes
// nothing. A status with an error has what could be looked at: the Kubernetes API
// may be away, and certificates are read elsewhere.
func (c *Cluster) Status(ctx context.Context, same SameTree) (*Status, error) {
	s := &Status{Environment: c.env.name, Cluster: c.env.Infrastructure.Cluster, Nodes: []NodeStatus{}, Flux: []FluxStatus{}, Differences: []string{}}
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
	if s.Certificates, err = c.certificates(ctx, s); err != nil {
		return nil, err
	}
	s.support(c.clock.Now())
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
	s.Flux, s.ArgoCD, err = c.engineStatus(ctx, observed, same)
	return c.unready(observed), err
}

// engineStatus looks at the Kustomizations, or Applications, that own something of the
// tree.
func (c *Cluster) engineStatus(ctx context.Context, observed kubeplan.Observed, same SameTree) (flux, argo []FluxStatus, err error) {
	flux = []FluxStatus{}
	seen := map[string]bool{}
	items := slices.Clone(c.desired.Items)
	sorting.By(items, func(a, b kubeplan.Item) int { return strings.Compare(a.Owner(), b.Owner()) })
	for _, item := range items {
		if item.Kustomization == "" || seen[item.Owner()] {
			continue
		}
		seen[item.Owner()] = true
		k, there := observed.Runs(item)
		f := FluxStatus{Name: item.Kustomization, There: there, Ready: k.Ready, Suspended: k.Suspended, Message: k.Message, Revision: k.Applied, engine: item.Engine}
		commit := k.Applied
		if item.Engine == kubeplan.EngineFlux {
			_, commit, _ = strings.Cut(k.Applied, "@sha1:") // main@sha1:0123…
		}
		if commit != "" {
			if f.Current, err = same(ctx, commit); err != nil {
				return flux, argo, err
			}
		}
		if item.Engine == kubeplan.EngineArgoCD {
			argo = append(argo, f)
		} else {
			flux = append(flux, f)
		}
	}
	return flux, argo, nil
}

// unready are the objects of talosgen that are there and not ready, and what Flux is
// installed by.
func (c *Cluster) unready(observed kubeplan.Observed) (lines []string) {
	for _, item := range c.desired.Items {
		live := observed.Objects[item.ID()]
		if item.Kustomization != "" && !manifest.IsFluxInstance(item.ID()) || live == nil {
			continue
		}
		if ready, text := kube.Readiness(live); !ready {
			lines = append(lines, fmt.Sprintf("%s is not ready: %s", item.ID(), text))
		}
	}
	return lines
}

// wantedNodes are the nodes of the tree. What Kubernetes knows of them is not known
// yet.
func (c *Cluster) wantedNodes(ctx context.Context) ([]NodeStatus, error) {
	all := []NodeStatus{}
	for _, name := range slices.Sorted(slices.Values(nodeNames(c.env.Infrastructure))) {
		kubelet, talos, err := c.env.versions(ctx, nodeFile(name))
		if err != nil {
			return nil, err
		}
		all = append(all, NodeStatus{Name: name, Wanted: true, Unknown: true, Want: kubelet, WantTalos: talos})
	}
	return all, nil
}
