package kube

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// Where talosgen notes what it made.
const (
	inventoryNamespace = "kube-system"
	inventoryName      = "talosgen-inventory"
	inventoryKey       = "objects"
)

// inventory is the object that talosgen notes things in: what it made, and in its
// annotations what else it has to know.
type inventory struct{ api objects }

func (c *Client) inventory() inventory { return inventory{c.in(configMaps, inventoryNamespace)} }

// objects are what talosgen noted that it made.
func (i inventory) objects(ctx context.Context) (ids []kubeplan.ID, err error) {
	o, err := i.api.get(ctx, inventoryName)
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
				WithHint("it was edited: a line is kind.group/namespace/name").WithCode(diag.Remote)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// note notes what talosgen made, or is about to make.
func (i inventory) note(ctx context.Context, ids []kubeplan.ID) error {
	var text strings.Builder
	for _, id := range ids {
		text.WriteString(id.String() + "\n")
	}
	return i.apply(ctx, manager, map[string]any{
		"talosgen.dev/about": "What talosgen applied from bootstrap/, so that it can remove what Git has no more. Do not edit.",
	}, map[string]any{inventoryKey: text.String()})
}

// apply makes annotations and data those of a manager.
func (i inventory) apply(ctx context.Context, manager string, annotations, data map[string]any) error {
	o := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": inventoryName, "namespace": inventoryNamespace, "annotations": annotations},
	}
	if data != nil {
		o["data"] = data
	}
	_, err := i.api.patch(ctx, inventoryName, types.ApplyPatchType, o, metav1.PatchOptions{FieldManager: manager, Force: new(true)})
	return err
}
