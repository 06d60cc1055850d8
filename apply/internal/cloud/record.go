package cloud

import (
	"context"
	"fmt"
	"maps"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// MarkConfigured writes [schemas.LabelConfigured] of a server; its other labels
// stay. The error says that nothing may be assumed.
func (c *Client) MarkConfigured(ctx context.Context, id int64, value string) error {
	object := fmt.Sprintf("server with the id %d", id)
	server, _, err := c.api.Server.GetByID(ctx, id)
	switch {
	case err != nil:
		return explain(object, "read its labels", err)
	case server == nil:
		return diag.On(object, "it is gone").WithHint("apply again").WithCode(diag.Conflict)
	case server.Labels[schemas.LabelConfigured] == value:
		return nil
	}
	labels := maps.Clone(server.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[schemas.LabelConfigured] = value
	_, _, err = c.api.Server.Update(ctx, server, hcloud.ServerUpdateOpts{Labels: labels})
	return explain("server "+server.Name, "record whether it was configured", err)
}
