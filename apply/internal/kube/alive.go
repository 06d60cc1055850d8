package kube

import (
	"context"
	"net/http"
)

// Alive asks, once, whether the API serves requests. Everything that it needs
// for that is there then: etcd, the objects of its own, its rules.
func (c *Client) Alive(ctx context.Context) error {
	var version struct{}
	return c.once(ctx, request{method: http.MethodGet, path: namespaces.path("", "kube-system")}, nil, &version)
}
