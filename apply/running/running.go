// Package running reads what nodes run that were configured without talosgen, with the
// client certificate of a talosconfig. It changes nothing.
package running

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// Node is a node that runs.
type Node struct {
	Address, Hostname string
	UUID, Serial      string
	MAC               string // empty: it has several
	Talos             string // the version
	Config            secret.String

	member  node.MemberID // of etcd; 0: none
	members []node.Member
}

// Read asks nodes at once, and makes sure that the control planes among them are those of
// one etcd. What identifies several of them identifies none, and is left out.
func Read(ctx context.Context, a *Access, through reach.Transport, now func() time.Time) ([]Node, error) {
	nodes, problems := make([]Node, len(a.Nodes)), make([]error, len(a.Nodes))
	var wait sync.WaitGroup
	for i, address := range a.Nodes {
		wait.Go(func() { nodes[i], problems[i] = read(ctx, a, address, through, now) })
	}
	wait.Wait()
	var all diag.List
	for _, err := range problems {
		all.AddErr(err)
	}
	if err := all.Err(); err != nil {
		return nil, err
	}
	unique(nodes, func(n *Node) *string { return &n.UUID })
	unique(nodes, func(n *Node) *string { return &n.Serial })
	unique(nodes, func(n *Node) *string { return &n.MAC })
	return nodes, oneEtcd(nodes)
}

func read(ctx context.Context, a *Access, address string, through reach.Transport, now func() time.Time) (n Node, err error) {
	c, err := node.Connect(node.Target{Name: address, Address: address}, through, a.credentials, now)
	if err != nil {
		return n, err
	}
	defer c.Close()
	n.Address = address
	if n.Config, err = c.Config(ctx); err != nil {
		return n, err
	}
	stored, err := c.Persistent(ctx)
	if err != nil {
		return n, err
	}
	if err := settled(address, n.Config, stored); err != nil {
		return n, err
	}
	if n.Talos, err = c.Version(ctx); err != nil {
		return n, err
	}
	if n.Hostname, err = c.Hostname(ctx); err != nil {
		return n, err
	}
	hardware, err := c.Hardware(ctx)
	if err != nil {
		return n, err
	}
	n.UUID, n.Serial = strings.ToLower(hardware.UUID), hardware.Serial
	if len(hardware.MACs) == 1 {
		n.MAC = strings.ToLower(hardware.MACs[0])
	}
	return n, n.readEtcd(ctx, c)
}

// settled refuses a node that will have another configuration than it has now.
func settled(address string, active, stored secret.String) error {
	if stored.Reveal() == "" || stored.Reveal() == active.Reveal() {
		return nil
	}
	return diag.On("node "+address, "will have another configuration at its next boot than it has now").
		WithHint("a change waits for a reboot, or is being tried: reboot the node, or apply its configuration again").WithCode(diag.Conflict)
}

// readEtcd asks a control plane for its etcd. Of others the service is unknown.
func (n *Node) readEtcd(ctx context.Context, c *node.Client) error {
	services, err := c.Services(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(services, func(s node.Service) bool { return s.Name == "etcd" }) {
		return nil
	}
	status, err := c.EtcdStatus(ctx)
	if err != nil {
		return err
	}
	n.member = status.Member
	n.members, err = c.Members(ctx)
	return err
}

// unique clears what several nodes have, and what stands for nothing.
func unique(nodes []Node, field func(*Node) *string) {
	count := map[string]int{}
	for i := range nodes {
		count[*field(&nodes[i])]++
	}
	for i := range nodes {
		if text := field(&nodes[i]); count[*text] > 1 || strings.Trim(*text, "0-") == "" {
			*text = ""
		}
	}
}

// oneEtcd refuses control planes of several clusters, and those of one that are not all
// there.
func oneEtcd(nodes []Node) error {
	var first *Node
	var problems diag.List
	known := map[node.MemberID]bool{}
	for i := range nodes {
		n := &nodes[i]
		if n.member == 0 {
			continue
		}
		if first == nil {
			first = n
		}
		known[n.member] = true
		if ids(n.members) != ids(first.members) {
			problems.Add(diag.On("node "+n.Address, "is a member of another etcd than node %s", first.Address).
				WithHint("adopt the nodes of one cluster at a time").WithCode(diag.Conflict))
		}
	}
	if first == nil || len(problems) > 0 {
		return problems.Err()
	}
	for _, m := range first.members {
		if !known[m.ID] {
			problems.Add(diag.On("etcd", "has the member %s, which is none of the nodes that were named", m.Hostname).
				WithHint("name all nodes of the cluster with --nodes, or remove a member that is gone: `talosctl etcd remove-member %s`", m.ID).WithCode(diag.Conflict))
		}
	}
	return problems.Err()
}

// ids are those of members, in order.
func ids(members []node.Member) string {
	var all []string
	for _, m := range members {
		all = append(all, fmt.Sprint(m.ID))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
