package apply

import (
	"context"

	"github.com/talosgen/talosgen/apply/internal/kube"
)

// SupportNodes says what the nodes of the cluster run, and their conditions, for those
// who help. It holds no secret.
func (c *Cluster) SupportNodes(ctx context.Context) (string, error) {
	return kube.NewSupport(c.client).Nodes(ctx)
}

// SupportEvents has the events about nodes and the warnings in the namespaces of the
// system, for those who help. Their texts are those of the cluster's own programs.
func (c *Cluster) SupportEvents(ctx context.Context) (string, error) {
	return kube.NewSupport(c.client).Events(ctx)
}
