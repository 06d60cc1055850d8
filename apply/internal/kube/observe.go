package kube

import (
	"context"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

const (
	// parallel is how many requests are on their way at once.
	parallel = 8
	// fewObjects of a kind in a namespace are read one by one; of more, all that
	// there are: their list is one request.
	fewObjects = 2
)

// Where talosgen notes what it made.
const (
	inventoryNamespace = "kube-system"
	inventoryName      = "talosgen-inventory"
	inventoryKey       = "objects"
)

// kustomizations are what Flux runs.
var kustomizations = schema.GroupKind{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"}

// Observe reads what there is of what is desired, and of what talosgen made
// before. It changes nothing.
func (c *Client) Observe(ctx context.Context, desired kubeplan.Desired) (kubeplan.Observed, error) {
	o := kubeplan.Observed{
		API: true, Objects: map[kubeplan.ID]kubeplan.Object{}, Served: map[string]bool{},
		Namespaces: map[string]bool{}, Kustomizations: map[string]kubeplan.Kustomization{},
	}
	k, err := c.discover(ctx)
	if err != nil {
		return o, err
	}
	if o.Inventory, err = c.inventory(ctx); err != nil {
		return o, err
	}
	if err := c.observeNamespaces(ctx, &o); err != nil {
		return o, err
	}
	if err := c.observeKustomizations(ctx, k, &o); err != nil {
		return o, err
	}
	wanted := map[resource][]kubeplan.ID{}
	for _, item := range desired.Items {
		id := item.ID()
		if err := k.known(id.Group); err != nil {
			return o, err
		}
		if r, found := k.of(item.Object); found {
			o.Served[kubeplan.Served(item.Object)] = true
			wanted[r] = append(wanted[r], id)
		} else if r, found := k.ofID(id); found {
			wanted[r] = append(wanted[r], id) // in another version
		}
	}
	for _, id := range o.Inventory {
		if r, found := k.ofID(id); found && !slices.Contains(wanted[r], id) {
			wanted[r] = append(wanted[r], id)
		}
	}
	if slices.ContainsFunc(desired.Items, func(i kubeplan.Item) bool { return i.Boots != kubeplan.Versions{} }) {
		if o.Running, err = c.running(ctx); err != nil {
			return o, err
		}
	}
	err = c.read(ctx, wanted, o.Objects)
	return o, err
}

// running are the versions that control planes run.
func (c *Client) running(ctx context.Context) (v kubeplan.Versions, err error) {
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return v, err
	}
	version, err := c.Version(ctx)
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
func (c *Client) read(ctx context.Context, wanted map[resource][]kubeplan.ID, into map[kubeplan.ID]kubeplan.Object) error {
	var mu sync.Mutex
	keep := func(id kubeplan.ID, o kubeplan.Object) {
		mu.Lock()
		defer mu.Unlock()
		into[id] = o
	}
	var jobs []func() error
	for r, ids := range wanted {
		byNamespace := map[string][]kubeplan.ID{}
		for _, id := range ids {
			byNamespace[id.Namespace] = append(byNamespace[id.Namespace], id)
		}
		for namespace, ids := range byNamespace {
			if len(ids) > fewObjects {
				jobs = append(jobs, func() error { return c.readList(ctx, r, namespace, ids, keep) })
				continue
			}
			for _, id := range ids {
				jobs = append(jobs, func() error { return c.readOne(ctx, r, id, keep) })
			}
		}
	}
	return inParallel(jobs)
}

func (c *Client) readOne(ctx context.Context, r resource, id kubeplan.ID, keep func(kubeplan.ID, kubeplan.Object)) error {
	o, err := c.in(r, id.Namespace).get(ctx, id.Name)
	if absent(err) {
		return nil
	}
	if err == nil {
		keep(id, o)
	}
	return err
}

// readList reads a list, and keeps what is wanted.
func (c *Client) readList(ctx context.Context, r resource, namespace string, ids []kubeplan.ID, keep func(kubeplan.ID, kubeplan.Object)) error {
	wanted := map[string]kubeplan.ID{}
	for _, id := range ids {
		wanted[id.Name] = id
	}
	return c.in(r, namespace).list(ctx, metav1.ListOptions{}, func(o map[string]any) error {
		if id, isWanted := wanted[kubeplan.Object(o).Name()]; isWanted {
			keep(id, o)
		}
		return nil
	})
}

func (c *Client) observeNamespaces(ctx context.Context, o *kubeplan.Observed) error {
	return c.in(namespaces, "").list(ctx, metav1.ListOptions{}, func(n map[string]any) error {
		o.Namespaces[kubeplan.Object(n).Name()] = kubeplan.Object(n).Text("metadata", "deletionTimestamp") != ""
		return nil
	})
}

func (c *Client) observeKustomizations(ctx context.Context, k *kinds, o *kubeplan.Observed) error {
	if err := k.known(kustomizations.Group); err != nil {
		return err
	}
	r, found := k.find(kustomizations)
	if !found {
		return nil
	}
	return c.in(r, "").list(ctx, metav1.ListOptions{}, func(object map[string]any) error {
		id := kubeplan.Object(object)
		o.Kustomizations[id.Namespace()+"/"+id.Name()] = kubeplan.ReadKustomization(object)
		return nil
	})
}

// inventory reads what talosgen noted that it made.
func (c *Client) inventory(ctx context.Context) (ids []kubeplan.ID, err error) {
	o, err := c.in(configMaps, inventoryNamespace).get(ctx, inventoryName)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(kubeplan.Object(o).Text("data", inventoryKey)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		id, ok := manifest.ParseID(line)
		if !ok {
			return nil, diag.On("ConfigMap "+inventoryNamespace+"/"+inventoryName, "%q names no object", line).
				WithHint("somebody edited it: a line is kind.group/namespace/name").WithCode(diag.Remote)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// noteInventory notes what talosgen made, or is about to make.
func (c *Client) noteInventory(ctx context.Context, ids []kubeplan.ID) error {
	var text strings.Builder
	for _, id := range ids {
		text.WriteString(id.String() + "\n")
	}
	return c.applyInventory(ctx, manager, map[string]any{
		"talosgen.dev/about": "What talosgen applied from bootstrap/, so that it can remove what Git has no more. Do not edit.",
	}, map[string]any{inventoryKey: text.String()})
}

// applyInventory makes annotations and data of the inventory those of a manager.
func (c *Client) applyInventory(ctx context.Context, manager string, annotations, data map[string]any) error {
	o := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": inventoryName, "namespace": inventoryNamespace, "annotations": annotations},
	}
	if data != nil {
		o["data"] = data
	}
	_, err := c.in(configMaps, inventoryNamespace).patch(ctx, inventoryName, types.ApplyPatchType, o, metav1.PatchOptions{FieldManager: manager, Force: new(true)})
	return err
}

// inParallel runs jobs, several at once, and returns the problems of all.
func inParallel(jobs []func() error) error {
	var problems diag.List
	var mu sync.Mutex
	var wait sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for _, job := range jobs {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if err := job(); err != nil {
				mu.Lock()
				defer mu.Unlock()
				problems.AddErr(err)
			}
		})
	}
	wait.Wait()
	return problems.Err()
}
