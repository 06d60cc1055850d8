package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/ledger"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/bundle"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/printable"
)

// supportCommand gathers what those who help need to see.
type supportCommand struct{ clusters clusters }

func (u supportCommand) command() *cli.Command {
	return &cli.Command{
		Name:  "support",
		Usage: "gather what those who help need to see of a cluster",
		Subcommands: []*cli.Command{{
			Name:      "bundle",
			Usage:     "write an archive with versions, plan, status, health, history and nodes",
			ArgsUsage: "<env> [file]",
			Description: `Reads a cluster, changes nothing, and writes an archive (tar, gzip): versions,
the plan, status, health, history, addresses, and the conditions and events of
nodes. What cannot be read is in it as that.

It holds no secrets: no key, token, or Secret of Kubernetes is put in, and what
this program has decrypted is masked wherever it may stand. It does hold names and
addresses. The default name has the environment and the time.

Examples:
   talosgen support bundle prod
   talosgen support bundle prod prod.tar.gz`,
			Flags:  sessionFlags(nodeFlags()...),
			Action: u.bundle,
		}},
	}
}

func (u supportCommand) bundle(c *cli.Context) error {
	env, err := u.clusters.ws.environment(c, "[file]")
	if err != nil {
		return err
	}
	now := u.clusters.clock.now().UTC()
	out := u.clusters.out
	b := &bundle.Bundle{Name: env + "-support", Clean: func(text string) string { return printable.Text(out.masker.String(text)) }}
	if err := c.Set(flagAllowDirty, "true"); err != nil { // the tree is read as it is
		return err
	}
	opened := false
	err = u.clusters.useOf(c, env, func(s *session) error {
		opened = true
		u.gather(c, s, b, now)
		s.stop()
		return nil
	})
	if c.Context.Err() != nil {
		return c.Context.Err()
	}
	if !opened {
		b.Add("about.json", about(now, env), nil)
	}
	if err != nil {
		b.Add("session.txt", "", err)
	}
	file := c.Args().Get(1)
	if file == "" {
		file = env + "-support-" + now.Format("20060102T150405Z") + ".tar.gz"
	}
	return u.write(b, file, now)
}

// write writes the archive, and says what it lacks.
func (u supportCommand) write(b *bundle.Bundle, file string, now time.Time) error {
	data, err := b.Write(now)
	if err != nil {
		return err
	}
	if err := atomicfile.Create(file, data, 0o600); err != nil {
		return diag.New(diag.Pos{File: file}, "cannot be written: %v", reasonOf(err)).WithCause(err)
	}
	if failed := b.Failed(); len(failed) > 0 {
		u.clusters.out.warn("%s could not be read; the archive says why: %s", natural.Count(len(failed), "part"), strings.Join(failed, ", "))
	}
	u.clusters.out.say("wrote %s; it has names and addresses, and no secrets", file)
	return nil
}

// gather reads all parts. One that fails keeps no other from being read.
func (u supportCommand) gather(c *cli.Context, s *session, b *bundle.Bundle, now time.Time) {
	tree := s.env.Infrastructure
	b.Add("about.json", about(now, s.env.Name(), "cluster", tree.Cluster, "provider", tree.Provider), nil)
	outputs, err := s.Outputs(c.Context)
	b.Add("output.json", asJSON(outputs, err), err)
	p, err := s.Plan(c.Context, apply.Policy{})
	if err == nil {
		b.Add("plan.txt", p.String(), nil)
	} else {
		b.Add("plan.txt", "", err)
	}
	report, err := s.Health(c.Context, 0)
	if report != nil {
		b.Add("health.txt", report.String(), err)
	} else {
		b.Add("health.txt", "", err)
	}
	asked := false
	err = s.AtCluster(c.Context, "", func(cluster *apply.Cluster) error {
		asked = true
		u.ask(c, s, cluster, b)
		return nil
	})
	if !asked || err != nil {
		b.Add("api.txt", "", err)
	}
}

// ask reads what the Kubernetes API knows.
func (u supportCommand) ask(c *cli.Context, s *session, cluster *apply.Cluster, b *bundle.Bundle) {
	status, err := cluster.Status(c.Context, sameTreeAs(s.root, s.env.Name()))
	text := ""
	if status != nil {
		text = status.String()
	}
	b.Add("status.txt", text, err)
	entries, err := cluster.Ledger(c.Context)
	if err == nil {
		text = ledger.Table(entries)
	} else {
		text = ""
	}
	b.Add("history.txt", text, err)
	nodes, err := cluster.SupportNodes(c.Context)
	b.Add("conditions.txt", nodes, err)
	events, err := cluster.SupportEvents(c.Context)
	b.Add("events.txt", events, err)
}

// about says what made the archive, and of what.
func about(now time.Time, env string, more ...string) string {
	all := map[string]string{"environment": env, "time": now.Format(time.RFC3339), "talosgen": version, "go": runtime.Version(), "platform": fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH)}
	for i := 0; i+1 < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return asJSON(all, nil)
}

// asJSON is a value as JSON; nothing if it could not be had.
func asJSON(v any, err error) string {
	if err != nil {
		return ""
	}
	text, err := plan.Encode(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
