package apply

import (
	"context"
	"slices"
	"sync"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/internal/turn"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// disturbed are nodes whose servers a run has switched off or on: they may be on
// their way back.
type disturbed struct {
	waits   turn.Turn // of who waits for them
	mu      sync.Mutex
	names   []string
	awaited []string // nodes that were given their time, and need not come
}

func (d *disturbed) add(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names = append(d.names, name)
}

func (d *disturbed) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.names)
}

// settled looks at the nodes when those are back that were disturbed, and the
// control planes, without which nobody knows whether the cluster is well. Whoever
// was waited for in vain is not waited for again.
func (d *disturbed) settled(ctx context.Context, c *nodes.Cluster) ([]nodes.NodeState, error) {
	leave, err := d.waits.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	states, err := c.Settled(ctx, d.await(c))
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, seen := range states {
		if seen.Reach == nodeplan.Unreachable {
			d.awaited = append(d.awaited, seen.Machine.Name)
			d.names = slices.DeleteFunc(d.names, func(name string) bool { return name == seen.Machine.Name })
		}
	}
	return states, err
}

// await are the nodes to wait for.
func (d *disturbed) await(c *nodes.Cluster) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	await := slices.Clone(d.names)
	for _, m := range c.Machines {
		if m.InTree && m.Role == nodeplan.ControlPlane && m.Address != "" && !slices.Contains(d.awaited, m.Name) {
			await = append(await, m.Name)
		}
	}
	return await
}
