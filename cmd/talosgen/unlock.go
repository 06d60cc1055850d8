package main

import (
	"time"

	"github.com/urfave/cli/v2"
)

// unlockCommand removes the lock of a run that has ended.
type unlockCommand struct{ clusters clusters }

func (u unlockCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "unlock",
		Usage:     "release the lock of a cluster",
		ArgsUsage: "<env>",
		Description: `A run of apply or destroy holds the lock of the cluster: a firewall without rules
named <cluster>-apply-lock. For existing machines it is a Lease of that name in the
namespace kube-system, as soon as their Kubernetes serves. Other runs take the lock
over when it has expired: the firewall after ten minutes, the Lease after fifteen.
Use this command to release it earlier, only if that run has ended.

Examples:
   talosgen unlock prod        show the holder, ask, release the lock
   talosgen unlock prod --yes  do not ask`,
		Flags:  sessionFlags(append(nodeFlags(), &cli.BoolFlag{Name: flagYes, Usage: "do not ask for approval"})...),
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
		s.out.say("the lock is not held")
		return nil
	}
	s.out.say("%s holds the lock; it expires at %s unless it is renewed", holder.Owner, holder.Expires.UTC().Format(time.RFC3339))
	if err := s.out.agree(c, s.view, "has that run ended?"); err != nil {
		return err
	}
	if _, err := s.Unlock(c.Context); err != nil {
		return err
	}
	s.out.say("released the lock")
	return nil
}
