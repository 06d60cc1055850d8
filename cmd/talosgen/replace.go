package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
)

const flagYesReplace = "yes-replace"

// replaceCommand creates a node again.
type replaceCommand struct{ clusters clusters }

func (r replaceCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "replace",
		Usage:     "remove a node from its cluster, create its machine again, and let it join",
		ArgsUsage: "<env> <node>",
		Description: `For a node that is broken or needs an empty disk. Its pods are drained first. A
control plane node leaves etcd, after a snapshot, and only if etcd keeps its
quorum; the member of an unreachable node is removed by its ID. Then the server is
deleted and created again under the same name and private address; a machine that
existed before is reset. The new node gets its configuration and joins.

All data on the disks of the node is lost. If it is interrupted, run it again, or,
as soon as the new node has joined, ` + "`talosgen apply`" + `.

Examples:
   talosgen replace prod prod-control-plane-2
   talosgen replace prod prod-worker-1 --yes-replace prod-worker-1
                                              do not ask, as in CI`,
		Flags: sessionFlags(append(nodeFlags(),
			&cli.StringFlag{Name: flagYesReplace, Usage: "confirm with the `NAME` of the node"},
			imageURLFlag(), outputFlag())...),
		Action: r.run,
	}
}

func (r replaceCommand) run(c *cli.Context) error {
	name, err := r.clusters.ws.environment(c, "<node>")
	if err != nil {
		return err
	}
	node := c.Args().Get(1)
	if yes := c.String(flagYesReplace); yes != "" && yes != node {
		return diag.On("--"+flagYesReplace, "the node is named %s, not %s", node, yes).WithCode(diag.Usage)
	}
	return r.clusters.useOf(c, name, func(s *session) error {
		r.clusters.begin(c, s)
		return r.replace(c, s, name, node)
	})
}

// replace removes a node, and lets its new machine join.
func (r replaceCommand) replace(c *cli.Context, s *session, name, node string) error {
	if names := s.env.NodeNames(); !slices.Contains(names, node) {
		return diag.On("node "+node, "rendered/%s has no such node", name).WithHint("%s", diag.Suggest(node, names)).WithCode(diag.Usage)
	}
	if err := s.CheckTree(c.Context); err != nil { // apply would not let it join
		return err
	}
	p, err := s.PlanRemoval(c.Context, s.ToReplace(node))
	if err != nil {
		return err
	}
	s.showNodes(c, p)
	if len(p.Refusals) == 0 {
		question := fmt.Sprintf("all data on %s will be lost. type its name to replace it: ", node)
		if err := s.agreeByName(c, node, c.String(flagYesReplace), flagYesReplace, question); err != nil {
			return err
		}
	}
	if report, err := s.Replace(c.Context, p, node, r.clusters.owner()); err != nil {
		return s.endRun(c, report, err)
	}
	return s.joinAgain(c, node)
}

// joinAgain lets a node join whose machine is new. What else is to do in the
// cluster, and needs consent, is left to apply.
func (s *session) joinAgain(c *cli.Context, node string) error {
	policy := apply.Policy{Nodes: []string{node}}
	p, err := s.Plan(c.Context, policy)
	if err != nil {
		return err
	}
	if !forPrograms(c) {
		s.view.line(strings.TrimRight(p.String(), "\n"))
	}
	report, err := s.Apply(c.Context, p, policy, s.owner())
	s.stop()
	return s.endRun(c, report, err)
}
