package node

import (
	"context"
	"fmt"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

var manifests = kind{"controlplane", "Manifests.kubernetes.talos.dev"}

// Manifests are the objects that Talos keeps in Kubernetes, such as kube-proxy and
// CoreDNS, as a control plane node has them for its configuration, in Talos' order. Talos
// makes them once, and never changes them. They hold secrets.
func (c *Client) Manifests(ctx context.Context) (objects []manifest.Object, err error) {
	const what = "read its manifests"
	err = c.list(ctx, what, manifests, func(id string, decode func(any) error) error {
		var items []map[string]any
		if err := decode(&items); err != nil {
			return err
		}
		for _, item := range items {
			normal, err := manifest.Normalize(item)
			object, is := normal.(map[string]any)
			if err != nil || !is {
				return diag.On("node "+c.target.Name, "%s: %s cannot be read", what, fmt.Sprintf("%q", id)).WithCode(diag.Remote)
			}
			objects = append(objects, object)
		}
		return nil
	})
	return objects, err
}
