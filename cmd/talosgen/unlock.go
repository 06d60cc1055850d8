package main

import (
	"time"

	"github.com/urfave/cli/v2"
)

// unlockCommand removes the lock of a run that has ended.
type unlockCommand struct{ clusters clusters }

func (u unlockCommand) command() *cli.Command {
	return &cli.Command{
		Name:         "unlock",
		Usage:        "take the lock of a cluster from a run that is dead",
		ArgsUsage:    "<env>",
		BashComplete: u.clusters.ws.completeEnvironments(false),
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
		Action: u.run,
	}
}

func (u unlockCommand) run(c *cli.Context) error {
	return u.clusters.use(c, func(s *session) error { return u.unlock(c, s) })
}

// unlock shows who holds the lock, asks, and removes it.
func (u unlockCommand) unlock(c *cli.Context, s *session) error {
	holder, err := s.Holder(c.Context)
	if err != nil {
		return err
	}
	if holder == nil {
		s.out.say("nobody holds the lock")
		return nil
	}
	s.out.say("%s holds the lock, until %s unless it is renewed", holder.Owner, holder.Expires.UTC().Format(time.RFC3339))
	if err := s.out.agree(c, s.view, "is that run dead?"); err != nil {
		return err
	}
	if _, err := s.Unlock(c.Context); err != nil {
		return err
	}
	s.out.say("removed the lock")
	return nil
}
