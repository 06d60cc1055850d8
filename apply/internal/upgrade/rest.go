package upgrade

import (
	"context"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
)

// restFor is how long nobody asks a worker again with which nothing happens: in a large
// cluster most calls would be such.
const restFor = 5 * time.Minute

// resting is what was seen of a worker that is well.
type resting struct {
	at         time.Time
	registered kube.Node
	node       upgradeplan.Node
}

// rests returns what was seen of a worker, if it is well, no run has begun with it, and
// Kubernetes says of it what it said then.
func (u *Upgrade) rests(c candidate) (upgradeplan.Node, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	r, found := u.resting[c.want.Name]
	return r.node, found && c.registered != nil && *c.registered == r.registered && u.Clock.Now().Sub(r.at) < restFor
}

// rest notes what was seen of a node.
func (u *Upgrade) rest(c candidate, n upgradeplan.Node) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c.registered == nil || n.Role == upgradeplan.ControlPlane || n.Drained || n.Mark != nil || !n.Ready || !n.Reached || n.Stage != upgradeplan.StageRunning {
		delete(u.resting, c.want.Name)
		return
	}
	if u.resting == nil {
		u.resting = map[string]resting{}
	}
	u.resting[c.want.Name] = resting{u.Clock.Now(), *c.registered, n}
}

// wake lets a node be asked again: something was done with it.
func (u *Upgrade) wake(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.resting, name)
	delete(u.listed, name)
}

// listed are the images that a node had.
type listed struct {
	at     time.Time
	boot   string
	images []node.Image
}

// imagesOf are the images of a node. They are not asked for again while nothing is done with
// it: others than this run pull none that matter.
func (u *Upgrade) imagesOf(ctx context.Context, c *node.Client, boot string) ([]node.Image, error) {
	name := c.Target().Name
	u.mu.Lock()
	known := u.listed[name]
	u.mu.Unlock()
	if known.boot == boot && u.Clock.Now().Sub(known.at) < restFor {
		return known.images, nil
	}
	images, err := c.Images(ctx)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.listed == nil {
		u.listed = map[string]listed{}
	}
	u.listed[name] = listed{u.Clock.Now(), boot, images}
	return images, nil
}

// unheard reports whether a node does not answer that has answered before, this run or the
// plan: a single answer may be lost, and with it the node would be taken for one that is
// left.
func (u *Upgrade) unheard(seen upgradeplan.Observed) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.ContainsFunc(seen.Nodes, func(n upgradeplan.Node) bool {
		return !n.Reached && (u.facts[n.Name].boot != "" || slices.Contains(u.Expected, n.Name))
	})
}
