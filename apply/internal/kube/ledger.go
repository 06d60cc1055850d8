package kube

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
)

// Where the history of a cluster is. It is no part of the inventory: nothing of it is
// in Git.
const (
	ledgerName = "talosgen-history"
	ledgerKey  = "runs"
	// ledgerTries bounds how often a run is recorded while others record theirs.
	ledgerTries = 10
)

// Ledger is the history of a cluster, in its ConfigMap.
type Ledger struct {
	api   objects
	clock Clock
}

// NewLedger is the history of the cluster that a client talks to.
func NewLedger(c *Client) Ledger {
	return Ledger{api: c.in(configMaps, inventoryNamespace), clock: c.conn.clock}
}

// Text is the history; empty if there is none.
func (l Ledger) Text(ctx context.Context) (string, error) {
	o, err := l.read(ctx)
	return kubeplan.Object(o).Text("data", ledgerKey), err
}

// read reads the object; nil if there is none.
func (l Ledger) read(ctx context.Context) (map[string]any, error) {
	o, err := l.api.get(ctx, ledgerName)
	if absent(err) {
		return nil, nil
	}
	return o, err
}

// Record changes the history. What others record at the same time stays: the API takes
// no change that was made from an older history, and then add is called again with the
// newer one. If that is as it should be, nothing is written.
func (l Ledger) Record(ctx context.Context, add func(string) (string, error)) error {
	for n := range ledgerTries {
		if n > 0 {
			if err := l.clock.Sleep(ctx, pauseBefore(n-1)); err != nil {
				return err
			}
		}
		o, err := l.read(ctx)
		if err != nil {
			return err
		}
		before := kubeplan.Object(o).Text("data", ledgerKey)
		after, err := add(before)
		if err != nil || o != nil && after == before {
			return err
		}
		err = l.write(ctx, o, after)
		lost := err != nil && refused(err) == nil && ctx.Err() == nil && n == 0 // what it did is looked at, once
		if !lost && !conflicts(err) && !absent(err) {
			return err
		}
	}
	return diag.On("ConfigMap "+inventoryNamespace+"/"+ledgerName, "too many runs write it at once").WithCode(diag.Conflict)
}

// write writes the history in the place of the one that was read.
func (l Ledger) write(ctx context.Context, was map[string]any, text string) (err error) {
	next := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{
			"name": ledgerName, "namespace": inventoryNamespace,
			"annotations": map[string]any{"talosgen.dev/about": "Who has changed this cluster, and when: talosgen history."},
		},
		"data": map[string]any{ledgerKey: text},
	}}
	if was == nil {
		_, err = l.api.create(ctx, next)
		return err
	}
	next.SetResourceVersion(kubeplan.Object(was).Text("metadata", "resourceVersion"))
	_, err = l.api.update(ctx, next)
	return err
}
