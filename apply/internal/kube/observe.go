package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	utiljson "k8s.io/apimachinery/pkg/util/json"

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

var (
	configMaps     = resource{base: "/api/v1", name: "configmaps", namespaced: true}
	namespaces     = resource{base: "/api/v1", name: "namespaces"}
	kustomizations = kindGroup{"Kustomization", "kustomize.toolkit.fluxcd.io"}
)

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
	var o kubeplan.Object
	err := c.do(ctx, http.MethodGet, r.path(id.Namespace, id.Name), nil, (*map[string]any)(&o))
	if absent(err) {
		return nil
	}
	if err == nil {
		keep(id, o)
	}
	return err
}

// readList reads a list page by page, and keeps what is wanted.
func (c *Client) readList(ctx context.Context, r resource, namespace string, ids []kubeplan.ID, keep func(kubeplan.ID, kubeplan.Object)) error {
	wanted := map[string]kubeplan.ID{}
	for _, id := range ids {
		wanted[id.Name] = id
	}
	return c.pages(ctx, r.path(namespace, ""), nil, func(p page, raw json.RawMessage) error {
		var head struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		if err := utiljson.Unmarshal(raw, &head); err != nil {
			return err
		}
		id, isWanted := wanted[head.Metadata.Name]
		if !isWanted {
			return nil
		}
		var o map[string]any
		if err := utiljson.Unmarshal(raw, &o); err != nil {
			return err
		}
		// A list names the kind of its elements once.
		o["apiVersion"], o["kind"] = cmp.Or(kubeplan.Object(o).APIVersion(), p.APIVersion), cmp.Or(kubeplan.Object(o).Kind(), strings.TrimSuffix(p.Kind, "List"))
		keep(id, o)
		return nil
	})
}

func (c *Client) observeNamespaces(ctx context.Context, o *kubeplan.Observed) error {
	return c.pages(ctx, namespaces.path("", ""), nil, func(_ page, raw json.RawMessage) error {
		var n struct {
			Metadata struct {
				Name     string `json:"name"`
				Deletion string `json:"deletionTimestamp"`
			} `json:"metadata"`
		}
		err := utiljson.Unmarshal(raw, &n)
		o.Namespaces[n.Metadata.Name] = n.Metadata.Deletion != ""
		return err
	})
}

func (c *Client) observeKustomizations(ctx context.Context, k *kinds, o *kubeplan.Observed) error {
	if err := k.known(kustomizations.group); err != nil {
		return err
	}
	r, found := k.preferred[kustomizations]
	if !found {
		return nil
	}
	return c.pages(ctx, r.path("", ""), nil, func(_ page, raw json.RawMessage) error {
		var object map[string]any
		if err := utiljson.Unmarshal(raw, &object); err != nil {
			return err
		}
		id := kubeplan.Object(object)
		o.Kustomizations[id.Namespace()+"/"+id.Name()] = kubeplan.ReadKustomization(object)
		return nil
	})
}

// inventory reads what talosgen noted that it made.
func (c *Client) inventory(ctx context.Context) (ids []kubeplan.ID, err error) {
	var o map[string]any
	err = c.do(ctx, http.MethodGet, configMaps.path(inventoryNamespace, inventoryName), nil, &o)
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
	return c.send(ctx, request{
		method: http.MethodPatch, content: applyPatch,
		path: configMaps.path(inventoryNamespace, inventoryName) + "?fieldManager=" + manager + "&force=true",
		body: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": inventoryName, "namespace": inventoryNamespace, "annotations": map[string]any{
				"talosgen.dev/about": "What talosgen applied from bootstrap/, so that it can remove what Git has no more. Do not edit.",
			}},
			"data": map[string]any{inventoryKey: text.String()},
		},
	}, &struct{}{})
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
