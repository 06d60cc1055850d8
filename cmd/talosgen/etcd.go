package main

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
)

// etcdCommand shows etcd, and saves it.
type etcdCommand struct{ clusters clusters }

func (e etcdCommand) command() *cli.Command {
	return &cli.Command{
		Name:        "etcd",
		Usage:       "show the status of etcd, and take snapshots",
		Subcommands: []*cli.Command{e.statusCommand(), e.snapshotCommand()},
	}
}

func (e etcdCommand) statusCommand() *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "list etcd members and their health",
		ArgsUsage: "<env>",
		Description: `Asks every control plane node for its etcd member. Exits 1 if etcd is
not healthy: if it has no quorum or an alarm, or if a single member does
not answer or has no vote.

Examples:
   talosgen etcd status prod
   talosgen etcd status prod -o json`,
		Flags:  sessionFlags(append(nodeFlags(), outputFlag())...),
		Action: e.status,
	}
}

func (e etcdCommand) status(c *cli.Context) error {
	return e.clusters.read(c, func(s *session) error { return e.printMembers(c, s) })
}

// printMembers lists the members of etcd.
func (e etcdCommand) printMembers(c *cli.Context, s *session) error {
	members, well, err := s.Etcd(c.Context)
	s.stop()
	if err != nil {
		return err
	}
	if forPrograms(c) {
		err = s.out.printValue(c, members)
	} else {
		err = s.out.printText(members.String())
	}
	if err == nil && !well {
		return errDifferences
	}
	return err
}

func (e etcdCommand) snapshotCommand() *cli.Command {
	return &cli.Command{
		Name:      "snapshot",
		Usage:     "take an encrypted snapshot of etcd",
		ArgsUsage: "<env> [file]",
		Description: `Takes a snapshot of etcd, which holds all objects of Kubernetes, and verifies its
digest. It is encrypted with age for the operators of the environment while it is
received: plain text is never written. The default name has the cluster and the
time. An existing file is not replaced. apply takes a snapshot by itself before it
removes a control plane node.

` + "`talosgen apply --recover-from`" + ` restores it; age decrypts it, too:
age -d -i keys.txt prod-etcd-….db.age > prod.db

Examples:
   talosgen etcd snapshot prod
   talosgen etcd snapshot prod backups/before-upgrade.db.age`,
		Flags:  sessionFlags(append(nodeFlags(), outputFlag())...),
		Action: e.snapshot,
	}
}

func (e etcdCommand) snapshot(c *cli.Context) error {
	name, err := e.clusters.ws.environment(c, "[file]")
	if err != nil {
		return err
	}
	// A backup reads: what is not committed or pushed yet is no reason to have none.
	if err := c.Set(flagAllowDirty, "true"); err != nil {
		return err
	}
	return e.clusters.useOf(c, name, func(s *session) error { return e.save(c, s) })
}

// save saves etcd into a file.
func (e etcdCommand) save(c *cli.Context, s *session) error {
	saved, err := s.SaveEtcd(c.Context, keepAs(c.Args().Get(1)))
	s.stop()
	if err != nil {
		return err
	}
	if len(saved.LeftOut) > 0 {
		s.out.note("these operators cannot decrypt it, since age does not know such keys: %s", strings.Join(saved.LeftOut, ", "))
	}
	if forPrograms(c) {
		return s.out.printValue(c, saved)
	}
	s.out.say("%s has etcd of %s, %.1f MB, sha256 %s", saved.Where, s.env.Infrastructure.Cluster, float64(saved.Size)/1e6, saved.Digest)
	return nil
}

// keepAs keeps a file under the name that was chosen, or else under the
// given one in the current directory. One that exists is not replaced.
func keepAs(chosen string) apply.Keep {
	return func(name string, write func(io.Writer) error) (string, error) {
		file := chosen
		if file == "" {
			file = name
		}
		return keepIn(filepath.Dir(file))(filepath.Base(file), write)
	}
}
