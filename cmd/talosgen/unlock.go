package main

import (
	"time"

	"github.com/urfave/cli/v2"
)

func unlockCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:         "unlock",
		Usage:        "take the lock of a cluster from a run that is dead",
		ArgsUsage:    "<env>",
		BashComplete: w.completeEnvironments(false),
		Description: `While apply or destroy is at work, it holds the lock of the cluster: a firewall
without rules named <cluster>-apply-lock. Machines that exist already have a Lease
of that name in the namespace kube-system instead, as soon as their Kubernetes
serves. A firewall that was not renewed for ten minutes, or a Lease that was not
for fifteen, is taken over without being asked for. This removes it before: be
sure that the run is dead, or two would be at work.

Examples:
   talosgen unlock prod        say who holds the lock, ask, remove it
   talosgen unlock prod --yes  do not ask`,
		Flags:  sessionFlags(append(nodeFlags(), &cli.BoolFlag{Name: flagYes, Usage: "remove it without asking"})...),
		Action: w.unlockAction,
	}
}

func (w *world) unlockAction(c *cli.Context) error {
	s, err := w.openSession(c)
	if err != nil {
		return err
	}
	defer w.end(c, s)
	holder, err := s.Holder(c.Context)
	if err != nil {
		return err
	}
	if holder == nil {
		w.say("nobody holds the lock")
		return nil
	}
	w.say("%s holds the lock, until %s unless it is renewed", holder.Owner, holder.Expires.UTC().Format(time.RFC3339))
	if err := w.agree(c, s.view, "is that run dead?"); err != nil {
		return err
	}
	if _, err := s.Unlock(c.Context); err != nil {
		return err
	}
	w.say("removed the lock")
	return nil
}
