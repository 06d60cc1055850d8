package kube

import (
	"context"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
)

// fewObjects of a kind in a namespace are read one by one; of more, all that
// there are: their list is one request.
const fewObjects = 2

// kustomizations are what Flux runs, and applications what Argo CD does.
var (
	kustomizations = schema.GroupKind{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"}
	applications   = schema.GroupKind{Group: "argoproj.io", Kind: "Application"}
)

// Observe reads what there is of what is desired, and of what talosgen made
// before. It changes nothing.
func (c *Client) Observe(ctx context.Context, desired kubeplan.Desired) (kubeplan.Observed, error) {
	o := kubeplan.Observed{
		API: true, Objects: map[kubeplan.ID]kubeplan.Object{}, Served: map[string]bool{},
		Namespaces: map[string]bool{}, Kustomizations: map[string]kubeplan.Kustomization{}, Applications: map[string]kubeplan.Kustomization{},
	}
	r, err := c.reader(ctx)
	if err != nil {
		return o, err
	}
	if o.Inventory, err = c.inventory().objects(ctx); err != nil {
		return o, err
	}
	if err := r.namespaces(ctx, o.Namespaces); err != nil {
		return o, err
	}
	if err := r.runs(ctx, kustomizations, kubeplan.ReadKustomization, o.Kustomizations); err != nil {
		return o, err
	}
	if err := r.runs(ctx, applications, kubeplan.ReadApplication, o.Applications); err != nil {
		return o, err
	}
	wanted, err := r.wanted(desired, &o)
	if err != nil {
		return o, err
	}
	if slices.ContainsFunc(desired.Items, func(i kubeplan.Item) bool { return i.Boots != kubeplan.Versions{} }) {
		if o.Running, err = r.running(ctx); err != nil {
			return o, err
		}
	}
	err = r.read(ctx, wanted, o.Objects)
	return o, err
}

// reader reads objects of the kinds that an API serves.
type reader struct {
	client *Client
	*kinds
}

// reader asks what the API serves.
func (c *Client) reader(ctx context.Context) (reader, error) {
	k, err := c.discover(ctx)
	return reader{c, k}, err
}

// wanted are the objects to read, by where they are, and notes which kinds of those
// that are desired are served.
func (r reader) wanted(desired kubeplan.Desired, o *kubeplan.Observed) (map[resource][]kubeplan.ID, error) {
	wanted := map[resource][]kubeplan.ID{}
	for _, item := range desired.Items {
		id := item.ID()
		if err := r.known(id.Group); err != nil {
			return nil, err
		}
		if at, found := r.of(item.Object); found {
			o.Served[kubeplan.Served(item.Object)] = true
			wanted[at] = append(wanted[at], id)
		} else if at, found := r.ofID(id); found {
			wanted[at] = append(wanted[at], id) // in another version
		}
	}
	for _, id := range o.Inventory {
		if at, found := r.ofID(id); found && !slices.Contains(wanted[at], id) {
			wanted[at] = append(wanted[at], id)
		}
	}
	return wanted, nil
}

// running are the versions that control planes run.
func (r reader) running(ctx context.Context) (v kubeplan.Versions, err error) {
	nodes, err := r.client.Nodes(ctx)
	if err != nil {
		return v, err
	}
	version, err := r.client.Version(ctx)
	return oldest(version, nodes), err
}

// oldest are the oldest versions of control planes, and of the API server that has
// answered: while an upgrade goes on, each answers with its own.
func oldest(api string, nodes []Node) kubeplan.Versions {
	v := kubeplan.Versions{Kubernetes: api}
	for _, n := range nodes {
		if n.ControlPlane {
			v.Talos, v.Kubernetes = upgradepath.Older(v.Talos, n.Talos), upgradepath.Older(v.Kubernetes, n.Kubelet)
		}
	}
	return v
}

// read reads objects, by as few requests as that takes.
func (r reader) read(ctx context.Context, wanted map[resource][]kubeplan.ID, into map[kubeplan.ID]kubeplan.Object) error {
	var mu sync.Mutex
	keep := func(id kubeplan.ID, o kubeplan.Object) {
		mu.Lock()
		defer mu.Unlock()
		into[id] = o
	}
	var jobs []func() error
	for at, ids := range wanted {
		byNamespace := map[string][]kubeplan.ID{}
		for _, id := range ids {
			byNamespace[id.Namespace] = append(byNamespace[id.Namespace], id)
		}
		for namespace, ids := range byNamespace {
			if len(ids) > fewObjects {
				jobs = append(jobs, func() error { return r.list(ctx, at, namespace, ids, keep) })
				continue
			}
			for _, id := range ids {
				jobs = append(jobs, func() error { return r.one(ctx, at, id, keep) })
			}
		}
	}
	return inParallel(jobs)
}

func (r reader) one(ctx context.Context, at resource, id kubeplan.ID, keep func(kubeplan.ID, kubeplan.Object)) error {
	o, err := r.client.in(at, id.Namespace).get(ctx, id.Name)
	if absent(err) {
		return nil
	}
	if err == nil {
		keep(id, o)
	}
	return err
}

// list reads a list, and keeps what is wanted.
func (r reader) list(ctx context.Context, at resource, namespace string, ids []kubeplan.ID, keep func(kubeplan.ID, kubeplan.Object)) error {
	wanted := map[string]kubeplan.ID{}
	for _, id := range ids {
		wanted[id.Name] = id
	}
	return r.client.in(at, namespace).list(ctx, metav1.ListOptions{}, func(o map[string]any) error {
		if id, isWanted := wanted[kubeplan.Object(o).Name()]; isWanted {
			keep(id, o)
		}
		return nil
	})
}

// namespaces notes of each namespace whether it is being deleted.
func (r reader) namespaces(ctx context.Context, deleted map[string]bool) error {
	return r.client.in(namespaces, "").list(ctx, metav1.ListOptions{}, func(n map[string]any) error {
		deleted[kubeplan.Object(n).Name()] = kubeplan.Object(n).Text("metadata", "deletionTimestamp") != ""
		return nil
	})
}

// runs notes how far an engine is with what it runs, of a kind.
func (r reader) runs(ctx context.Context, kind schema.GroupKind, read func(kubeplan.Object) kubeplan.Kustomization, all map[string]kubeplan.Kustomization) error {
	if err := r.known(kind.Group); err != nil {
		return err
	}
	at, found := r.find(kind)
	if !found {
		return nil
	}
	return r.client.in(at, "").list(ctx, metav1.ListOptions{}, func(object map[string]any) error {
		id := kubeplan.Object(object)
		all[id.Namespace()+"/"+id.Name()] = read(object)
		return nil
	})
}
