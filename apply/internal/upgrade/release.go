package upgrade

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/internal/diag"
)

// release lets pods in again at nodes that were only drained: a run that ends early
// leaves no node cordoned with which nothing else was begun. Of those that stay
// cordoned it says so, unless why the run has ended does.
func (u *Upgrade) release(ctx context.Context, why error) error {
	if u.Keep(ctx) != nil {
		return why // it was interrupted, or another run holds the lock: the next run does it
	}
	if registered, err := u.Kubernetes.Registered(ctx); err == nil {
		u.noteClosed(registered)
		for _, n := range registered {
			if n.Drained && n.Upgrade == "" {
				_ = u.uncordon(ctx, n.Name) // of one that stays so it is told
			}
		}
	}
	all := why
	for _, name := range slices.Sorted(maps.Keys(u.closed)) {
		if !strings.Contains(why.Error(), "node "+name+": ") {
			all = errors.Join(all, diag.On("node "+name, "no pods are placed on it: it stays cordoned").
				WithHint("run the same command again; or kubectl uncordon %s", name).WithCode(diag.NotReady))
		}
	}
	return all
}

// noteClosed notes which nodes a run has cordoned.
func (u *Upgrade) noteClosed(registered []kube.Node) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = map[string]bool{}
	for _, n := range registered {
		if n.Drained {
			u.closed[n.Name] = true
		}
	}
}

// cordon drains a node, which is cordoned from then on, whatever comes of it.
func (u *Upgrade) cordon(ctx context.Context, name string, over []string, notify func(string)) error {
	u.mu.Lock()
	u.closed[name] = true
	u.mu.Unlock()
	return u.Kubernetes.Drain(ctx, name, over, notify)
}

// uncordon lets pods in again.
func (u *Upgrade) uncordon(ctx context.Context, name string) error {
	err := u.Kubernetes.Uncordon(ctx, name)
	if err == nil {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.closed, name)
	}
	return err
}
