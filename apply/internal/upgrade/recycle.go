package upgrade

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/kube"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/diag"
)

// Servers are those that the autoscaler makes.
type Servers interface {
	// Stale is why the autoscaler does not make servers as Git says; empty: it does.
	Stale(ctx context.Context) (string, error)
	// Find returns the id of the server of a node; 0 if there is none. It fails if the
	// server is not one that the autoscaler made for the group.
	Find(ctx context.Context, n kube.Node, group string) (id int64, err error)
	// Delete deletes a server, and waits until it is gone. One that is not there is no
	// error.
	Delete(ctx context.Context, id int64, name string) error
}

// observeStale notes why the autoscaler would make again what is deleted. It is asked for
// once: nothing but apply changes what it makes servers from, and a run has the lock.
func (u observer) observeStale(ctx context.Context, seen *upgradeplan.Observed) error {
	made := func(n upgradeplan.Node) bool { return n.Autoscaled }
	if u.Policy.Autoscaled != upgradeplan.Recycle || !slices.ContainsFunc(seen.Nodes, made) {
		return nil
	}
	if u.stale == nil {
		text, err := u.Servers.Stale(ctx)
		if err != nil {
			return err
		}
		u.stale = &text
	}
	seen.Stale = *u.stale
	return nil
}

// delete deletes the server of a node that the autoscaler made, and then the node. The
// mark says before that it was begun, and with which server: a node that does not answer
// any more is deleted by the next run.
func (u stepper) delete(ctx context.Context, s upgradeplan.Step) error {
	n, err := u.registered(ctx, s.Node)
	if err != nil || n == nil {
		return err // others have removed it
	}
	if n.Upgrade == "" && s.Evict {
		if err := u.drain(ctx, s); err != nil {
			return err
		}
	}
	id, err := u.Servers.Find(ctx, *n, s.Group)
	if err == nil {
		err = u.markDeleting(ctx, *n, id)
	}
	if err != nil {
		return err
	}
	if id != 0 {
		u.notify(s, fmt.Sprintf("server %d", id))
		if err := u.keeping(ctx, func(ctx context.Context) error { return u.Servers.Delete(ctx, id, s.Node) }); err != nil {
			return err
		}
	}
	return u.Kubernetes.Remove(ctx, s.Node)
}

// markDeleting notes at a node that its server is deleted, and which it is. If that was
// noted before, it must be the same one, or gone.
func (u stepper) markDeleting(ctx context.Context, n kube.Node, id int64) error {
	server := fmt.Sprint(id)
	if n.Upgrade != "" {
		if m, err := upgradeplan.ParseMark(n.Upgrade); err != nil || m.Phase != upgradeplan.Deleting || id != 0 && m.Boot != server {
			return diag.On("node "+n.Name, "its server is %d, and another one was to be deleted: %s", id, n.Upgrade).
				WithHint("remove the annotation talosgen.dev/upgrade if the node is healthy").WithCode(diag.Conflict)
		}
		return nil
	}
	if id == 0 {
		return diag.On("node "+n.Name, "the project has no server of its name").
			WithHint("remove the Node if its machine is gone; else it was made by something else, and stays with --autoscaled leave").WithCode(diag.Conflict)
	}
	m := upgradeplan.Mark{Phase: upgradeplan.Deleting, Version: strings.TrimPrefix(n.Talos, "v"), Boot: server, Run: u.ID, Try: 1}
	return u.Kubernetes.Mark(ctx, n.Name, m.String())
}

// registered is a node as Kubernetes knows it now; nil if it does not.
func (u stepper) registered(ctx context.Context, name string) (*kube.Node, error) {
	all, err := u.Kubernetes.Registered(ctx)
	for i := range all {
		if all[i].Name == name {
			return &all[i], err
		}
	}
	return nil, err
}
