package cloud

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Notes are labels of talosgen's own on an object that lives as long as the
// cluster does: its network, or a firewall of its own where the network is
// somebody else's.
type Notes struct {
	client  *Client
	cluster string
}

// Notes returns those of a cluster.
func (c *Client) Notes(cluster string) Notes { return Notes{c, cluster} }

// noteObject is the object that has the notes.
type noteObject struct {
	labels map[string]string
	update func(context.Context, map[string]string) error
}

// Read returns the notes by their names, without the prefix of labels.
func (n Notes) Read(ctx context.Context) (map[string]string, error) {
	k, err := n.object(ctx)
	if err != nil {
		return nil, err
	}
	notes := map[string]string{}
	for label, value := range k.labels {
		if name, own := strings.CutPrefix(label, schemas.LabelPrefix); own {
			notes[name] = value
		}
	}
	return notes, nil
}

// Write adds notes. Values are texts that a label can have.
func (n Notes) Write(ctx context.Context, notes map[string]string) error {
	k, err := n.object(ctx)
	if err != nil {
		return err
	}
	labels := maps.Clone(k.labels)
	for name, value := range notes {
		labels[schemas.LabelPrefix+name] = value
	}
	return explain("notes of the cluster "+n.cluster, "write them", k.update(ctx, labels))
}

// object finds the object, the oldest if there are several.
func (n Notes) object(ctx context.Context) (noteObject, error) {
	api := n.client.api
	own := fmt.Sprintf("%s=%s,%s=%s", schemas.LabelCluster, n.cluster, schemas.LabelManagedBy, schemas.ManagedBy)
	networks, err := all(ctx, "networks", own, func(l hcloud.ListOpts) ([]*hcloud.Network, *hcloud.Response, error) {
		return api.Network.List(ctx, hcloud.NetworkListOpts{ListOpts: l, Sort: oldestFirst})
	})
	if err != nil {
		return noteObject{}, err
	}
	if len(networks) > 0 {
		return noteObject{networks[0].Labels, func(ctx context.Context, labels map[string]string) error {
			_, _, err := api.Network.Update(ctx, networks[0], hcloud.NetworkUpdateOpts{Labels: labels})
			return err
		}}, nil
	}
	lasting := own + fmt.Sprintf(",%s notin (%s,%s)", schemas.LabelComponent, schemas.ComponentLock, schemas.ComponentSession)
	firewalls, err := all(ctx, "firewalls", lasting, func(l hcloud.ListOpts) ([]*hcloud.Firewall, *hcloud.Response, error) {
		return api.Firewall.List(ctx, hcloud.FirewallListOpts{ListOpts: l, Sort: oldestFirst})
	})
	if err != nil {
		return noteObject{}, err
	}
	if len(firewalls) > 0 {
		return noteObject{firewalls[0].Labels, func(ctx context.Context, labels map[string]string) error {
			_, _, err := api.Firewall.Update(ctx, firewalls[0], hcloud.FirewallUpdateOpts{Labels: labels})
			return err
		}}, nil
	}
	return noteObject{}, diag.On("notes of the cluster "+n.cluster, "it has neither a network nor a firewall of its own to keep them on").
		WithHint("apply the infrastructure first: --stage infrastructure; if the tree has network.existing and no firewall of the cluster's own, render it again").WithCode(diag.Remote)
}
