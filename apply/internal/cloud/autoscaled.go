package cloud

import (
	"context"
	"fmt"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// providerPrefix is what Kubernetes calls a server at Hetzner Cloud, before its id.
const providerPrefix = "hcloud://"

// autoscaledCalls are about servers that the autoscaler made.
type autoscaledCalls struct{ *calls }

// FindAutoscaled returns the id of the server of a name in a group of the autoscaler; 0 if
// there is none. A node says by itself which machine it is: provider, if it is not empty,
// must be the same one.
func (c autoscaledCalls) FindAutoscaled(ctx context.Context, group, name, provider string) (int64, error) {
	selector := schemas.LabelNodeGroup + "=" + group
	found, err := all(ctx, "servers of the autoscaler", selector, func(l hcloud.ListOpts) ([]*hcloud.Server, *hcloud.Response, error) {
		return c.api.Server.List(ctx, hcloud.ServerListOpts{ListOpts: l})
	})
	i := slices.IndexFunc(found, func(s *hcloud.Server) bool { return s.Name == name })
	if err != nil || i < 0 {
		return 0, err
	}
	id := found[i].ID
	if is := providerPrefix + fmt.Sprint(id); provider != "" && provider != is {
		return 0, diag.On("node "+name, "its server is %s, and the node says that it is %s", is, provider).
			WithHint("look at the machine that registered the node, and remove the Node").WithCode(diag.Conflict)
	}
	return id, nil
}

// DeleteAutoscaled deletes a server, and waits until it is gone. One that is not there is
// no error.
func (c autoscaledCalls) DeleteAutoscaled(ctx context.Context, id int64, name string) error {
	deleted, _, err := c.api.Server.DeleteWithResult(ctx, &hcloud.Server{ID: id})
	if err == nil {
		err = c.waiter.wait(ctx, deleted.Action)
	}
	return explain("server/"+name, "delete it", done(err))
}

// Autoscaled is a server that an autoscaler made, be it that of the cluster or another one.
type Autoscaled struct{ Name, Group, Cluster string }

// ListAutoscaled returns the servers of all groups in the project.
func (c autoscaledCalls) ListAutoscaled(ctx context.Context) (list []Autoscaled, err error) {
	found, err := all(ctx, "servers of the autoscaler", schemas.LabelNodeGroup, func(l hcloud.ListOpts) ([]*hcloud.Server, *hcloud.Response, error) {
		return c.api.Server.List(ctx, hcloud.ServerListOpts{ListOpts: l})
	})
	for _, s := range found {
		list = append(list, Autoscaled{s.Name, s.Labels[schemas.LabelNodeGroup], s.Labels[schemas.LabelCluster]})
	}
	return list, err
}
