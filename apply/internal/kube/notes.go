package kube

import (
	"context"
	"strings"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/schemas"
)

// notesManager owns the notes: what the inventory is written with would remove them.
const notesManager = manager + "-notes"

// Notes reads talosgen's own annotations of the inventory, without the prefix of
// their names; none if there is no inventory.
func (c *Client) Notes(ctx context.Context) (map[string]string, error) {
	o, err := c.inventory().api.get(ctx, inventoryName)
	if absent(err) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	notes := map[string]string{}
	for key, value := range kubeplan.Object(o).Map("metadata", "annotations") {
		if name, own := strings.CutPrefix(key, schemas.LabelPrefix); own {
			notes[name], _ = value.(string)
		}
	}
	return notes, nil
}

// WriteNotes writes notes. Those that were written before and are not among them are
// removed. The inventory stays as it is.
func (c *Client) WriteNotes(ctx context.Context, notes map[string]string) error {
	annotations := map[string]any{}
	for name, value := range notes {
		annotations[schemas.LabelPrefix+name] = value
	}
	return c.inventory().apply(ctx, notesManager, annotations, nil)
}
