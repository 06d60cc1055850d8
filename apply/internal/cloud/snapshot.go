package cloud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
)

// snapshotTime is how long Hetzner may take to make a snapshot.
const snapshotTime = 30 * time.Minute

// SnapshotOrder says how a snapshot of a builder's disk is to be found.
type SnapshotOrder struct {
	Run         Run
	Description string
	Labels      map[string]string
}

// snapshotCalls make, list and delete snapshots.
type snapshotCalls struct{ *calls }

// TakeSnapshot makes a snapshot of a builder, which has to be off, and returns
// its id when servers can be made from it. If it fails there is none.
func (c snapshotCalls) TakeSnapshot(ctx context.Context, b Builder, o SnapshotOrder) (int64, error) {
	object := "snapshot of " + b.Name
	labels := maps.Clone(o.Labels)
	labels[labelRun] = labelValue(o.Run.ID)
	opts := &hcloud.ServerCreateImageOpts{Type: hcloud.ImageTypeSnapshot, Description: hcloud.Ptr(o.Description), Labels: labels}
	first := true
	image, err := again(ctx, c.calls, func() (*hcloud.Image, error) {
		if !first { // the answer to an earlier try was lost, its effect may not be
			if there, err := c.snapshotOf(ctx, b); there != nil || err != nil {
				return there, err
			}
		}
		first = false
		made, _, err := c.api.Server.CreateImage(ctx, &hcloud.Server{ID: b.ID}, opts)
		return made.Image, err
	})
	if err != nil {
		return 0, explain(object, "make it", err)
	}
	return image.ID, c.SnapshotReady(ctx, image.ID)
}

// snapshotOf finds the snapshot that was taken of a builder; nil if there is
// none.
func (c snapshotCalls) snapshotOf(ctx context.Context, b Builder) (*hcloud.Image, error) {
	found, err := all(ctx, "snapshots", labelRun+"="+b.Run, func(l hcloud.ListOpts) ([]*hcloud.Image, *hcloud.Response, error) {
		return c.api.Image.List(ctx, hcloud.ImageListOpts{ListOpts: l, Type: []hcloud.ImageType{hcloud.ImageTypeSnapshot}, Sort: oldestFirst})
	})
	if err != nil {
		return nil, err
	}
	for _, i := range found {
		if i.CreatedFrom != nil && i.CreatedFrom.ID == b.ID {
			return i, nil
		}
	}
	return nil, nil
}

// SnapshotReady waits until servers can be made from a snapshot.
func (c snapshotCalls) SnapshotReady(ctx context.Context, id int64) error {
	object := fmt.Sprintf("snapshot %d", id)
	until := c.clock.Now().Add(snapshotTime)
	for n := 0; ; n++ {
		image, _, err := c.api.Image.GetByID(ctx, id)
		switch {
		case err != nil:
			return explain(object, "read its status", err)
		case image == nil:
			return diag.On(object, "Hetzner could not make it").WithCode(diag.Remote).WithHint(hintAgain)
		case image.Status == hcloud.ImageStatusAvailable:
			return nil
		case image.Status != hcloud.ImageStatusCreating:
			// It holds nothing, and costs nothing to make again.
			return errors.Join(diag.On(object, "Hetzner could not make it: it is %s", image.Status).WithCode(diag.Remote).WithHint(hintAgain),
				c.RemoveSnapshot(ctx, id))
		case c.clock.Now().After(until):
			return diag.On(object, "it is not ready after %s", snapshotTime).WithCode(diag.NotReady).WithHint(hintAgain)
		}
		if err := c.clock.Sleep(ctx, backoff(n, firstPoll, mostPoll, 1)); err != nil {
			return explain(object, "wait for it", err)
		}
	}
}

// Snapshots lists the snapshots of a project that a selector finds, oldest
// first; those that are still being made are among them. An architecture of ""
// is any.
func (c snapshotCalls) Snapshots(ctx context.Context, selector, architecture string) ([]cloudplan.Image, error) {
	found, err := all(ctx, "snapshots", selector, func(l hcloud.ListOpts) ([]*hcloud.Image, *hcloud.Response, error) {
		opts := hcloud.ImageListOpts{ListOpts: l, Type: []hcloud.ImageType{hcloud.ImageTypeSnapshot}, Sort: oldestFirst}
		if architecture != "" {
			opts.Architecture = []hcloud.Architecture{hcloud.Architecture(architecture)}
		}
		return c.api.Image.List(ctx, opts)
	})
	return convert(found, imageFrom), err
}

// Servers lists all servers of a project, whoever they belong to.
func (c *Client) Servers(ctx context.Context) ([]cloudplan.Server, error) {
	found, err := all(ctx, "servers", "", func(l hcloud.ListOpts) ([]*hcloud.Server, *hcloud.Response, error) {
		return c.api.Server.List(ctx, hcloud.ServerListOpts{ListOpts: l, Sort: oldestFirst})
	})
	return convert(found, serverFrom), err
}

// RemoveSnapshot deletes a snapshot. One that is gone already is no error.
func (c snapshotCalls) RemoveSnapshot(ctx context.Context, id int64) error {
	_, err := c.api.Image.Delete(ctx, &hcloud.Image{ID: id})
	return explain(fmt.Sprintf("snapshot %d", id), "delete", done(err))
}

// Sold returns what Hetzner sells.
func (c *Client) Sold(ctx context.Context) (cloudplan.Catalogue, error) {
	o := &observer{api: c.api}
	err := c.catalogue(ctx, o)
	return o.found.Catalogue, err
}

// KeepLock renews the lock that is held, if it is time: for whoever waits long
// without any request. Without a lock it does nothing.
func (c *calls) KeepLock(ctx context.Context) error {
	if l := c.wire.lock.Load(); l != nil {
		return l.Keep(ctx)
	}
	return nil
}
