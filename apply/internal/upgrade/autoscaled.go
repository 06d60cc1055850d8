package upgrade

import (
	"strings"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
)

// candidate is a node to look at. Registered is nil for one that Kubernetes does not
// know.
type candidate struct {
	want       upgradeplan.Want
	registered *kube.Node
	autoscaled bool
	// Nobody connects to it: only what Kubernetes says of it is known.
	distant bool
}

// candidates are the nodes of Git, and those that Kubernetes knows besides: what the
// autoscaler made of a pool, and workers that Git does not have.
func (u *Upgrade) candidates(registered []kube.Node) (all []candidate) {
	others := map[string]*kube.Node{}
	for i := range registered {
		others[registered[i].Name] = &registered[i]
	}
	for _, w := range u.Desired.Nodes {
		all = append(all, candidate{want: w, registered: others[w.Name]})
		delete(others, w.Name)
	}
	for i := range registered {
		n := &registered[i]
		if others[n.Name] == nil || n.ControlPlane {
			continue
		}
		want, made := u.poolOf(*n)
		want.Name, want.Role = n.Name, upgradeplan.Worker
		all = append(all, candidate{want, n, made, !made || u.Policy.Leaves(want)})
	}
	return all
}

// poolOf finds the pool that the autoscaler has made a node from: by the label with
// its group, or by its name, which begins with the group's.
func (u *Upgrade) poolOf(n kube.Node) (want upgradeplan.Want, found bool) {
	group := ""
	for pool, w := range u.Desired.Pools {
		named := strings.HasPrefix(n.Name, w.Group+"-") && (n.Group == "" || n.Group == w.Group)
		if (n.Group == w.Group || named) && len(w.Group) > len(group) {
			group, want, found = w.Group, w, true
			want.Pool = pool
		}
	}
	return want, found
}

// client connects to a node: to one of Git as Git says, and to one that the autoscaler
// made at the address that its kubelet names.
func (u *Upgrade) client(name string) (*node.Client, error) {
	u.mu.Lock()
	made, found := u.made[name]
	u.mu.Unlock()
	if found {
		return u.Reach(made)
	}
	return u.Connect(name)
}

// remember notes where the nodes are that the autoscaler made.
func (u *Upgrade) remember(all []candidate) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.made = map[string]kube.Node{}
	for _, c := range all {
		if c.autoscaled {
			u.made[c.want.Name] = *c.registered
		}
	}
}
