package cloud

import (
	"context"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// RemoveBuilder removes a builder and the key of its run. What is gone already
// is no error.
func (c builderCalls) RemoveBuilder(ctx context.Context, name string, run Run) error {
	var list diag.List
	for _, what := range c.temporaries() {
		_, err := what.remove(ctx, func(have string, labels map[string]string) bool {
			return labels[labelRun] == labelValue(run.ID) && (have == name || have == keyName(name, run))
		})
		list.AddErr(err)
	}
	return list.Err()
}

// CollectBuilders removes the builders and keys of runs that died: those of the
// cluster, whose lock the caller holds, and those whose time is over. It returns
// the names of what it removed.
func (c builderCalls) CollectBuilders(ctx context.Context, cluster string) (removed []string, err error) {
	for _, what := range c.temporaries() {
		names, err := what.remove(ctx, func(_ string, labels map[string]string) bool {
			return c.leftOver(labels[labelFor], expiry(labels), cluster)
		})
		removed = append(removed, names...)
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// BuildersLeft reports whether [Client.CollectBuilders] would remove something,
// were the lock of the cluster held.
func (c builderCalls) BuildersLeft(ctx context.Context, cluster string) (left bool, err error) {
	for _, what := range c.temporaries() {
		_, err := what.remove(ctx, func(_ string, labels map[string]string) bool {
			left = left || c.leftOver(labels[labelFor], expiry(labels), cluster)
			return false
		})
		if err != nil {
			return left, err
		}
	}
	return left, nil
}

// temporary is a kind of object that a build needs for a while.
type temporary struct {
	remove func(ctx context.Context, which func(name string, labels map[string]string) bool) ([]string, error)
}

// temporaries are these kinds, in the order in which they are removed: a key is
// what finds the run of a server that is still being made.
func (c builderCalls) temporaries() []temporary {
	const selector = schemas.LabelManagedBy + "=" + schemas.ManagedBy + "," + schemas.LabelComponent + "=" + schemas.ComponentBuilder
	return []temporary{
		{func(ctx context.Context, which func(string, map[string]string) bool) ([]string, error) {
			found, err := all(ctx, "servers", selector, func(l hcloud.ListOpts) ([]*hcloud.Server, *hcloud.Response, error) {
				return c.api.Server.List(ctx, hcloud.ServerListOpts{ListOpts: l, Sort: oldestFirst})
			})
			return removeThose(found, err, which, func(s *hcloud.Server) (int64, string, map[string]string) { return s.ID, s.Name, s.Labels },
				func(id int64) error { return c.removeServer(ctx, id) })
		}},
		{func(ctx context.Context, which func(string, map[string]string) bool) ([]string, error) {
			found, err := all(ctx, "SSH keys", selector, func(l hcloud.ListOpts) ([]*hcloud.SSHKey, *hcloud.Response, error) {
				return c.api.SSHKey.List(ctx, hcloud.SSHKeyListOpts{ListOpts: l, Sort: oldestFirst})
			})
			return removeThose(found, err, which, func(k *hcloud.SSHKey) (int64, string, map[string]string) { return k.ID, k.Name, k.Labels },
				func(id int64) error { _, err := c.api.SSHKey.Delete(ctx, &hcloud.SSHKey{ID: id}); return done(err) })
		}},
	}
}

// removeThose removes some of a list, and goes on after errors.
func removeThose[T any](found []*T, err error, which func(string, map[string]string) bool,
	of func(*T) (int64, string, map[string]string), remove func(int64) error) (removed []string, _ error) {
	var list diag.List
	list.AddErr(err)
	for _, o := range found {
		id, name, labels := of(o)
		if !which(name, labels) {
			continue
		}
		if err := remove(id); err != nil {
			list.AddErr(explain(name, "remove what a build left", err))
			continue
		}
		removed = append(removed, name)
	}
	return removed, list.Err()
}

// removeServer deletes a server, and waits until it is gone.
func (c builderCalls) removeServer(ctx context.Context, id int64) error {
	made, _, err := c.api.Server.DeleteWithResult(ctx, &hcloud.Server{ID: id})
	if err != nil {
		return done(err)
	}
	return c.waiter.wait(ctx, made.Action)
}
