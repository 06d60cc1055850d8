package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
)

func applyCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:         "apply",
		Usage:        "make Hetzner Cloud, the nodes and Kubernetes what rendered/<env> says",
		ArgsUsage:    "<env>",
		BashComplete: w.completeEnvironments(false),
		Description: `Shows the plan, asks, makes the changes and looks again. It may be interrupted
at any time: run it again, and it goes on where it stopped. Only one apply of a
cluster is at work at a time. What destroys something, or powers a server off,
needs consent by name. Nodes leave the cluster before their servers are deleted;
one control plane reboots at a time, and the cluster has to be well before the
next; etcd is bootstrapped once. Images that are missing are made first, as by
` + "`talosgen image build`" + `. Public addresses that stay are kept in
envs/<env>/facts.yaml, to be committed.

The token of the project is in $` + tokenVariable + `, or else in the rendered tree.

Examples:
   talosgen apply prod                   show the plan, ask, make the changes
   talosgen apply prod --yes             do not ask, as in CI
   talosgen apply prod --plan plan.json  the changes of a plan that was kept
   talosgen apply prod --mode no-reboot  leave what needs a reboot for later
   talosgen apply prod --node prod-worker-1
                                         only one node, not the others
   talosgen apply prod --recover-from prod-etcd-20261121T210509Z.db.age
                                         bring back a lost etcd
   talosgen apply prod --allow prod-worker-3
                                         with consent to destroy one server`,
		Flags: sessionFlags(append(policyFlags(),
			&cli.StringFlag{Name: flagRecoverFrom, Usage: "the snapshot in `FILE`, to make a lost etcd anew from; only if no control plane has an etcd"},
			&cli.BoolFlag{Name: flagYes, Usage: "make the changes without asking"},
			&cli.StringFlag{Name: "plan", Usage: "the changes of the plan in `FILE`, if nothing that it is about has changed"},
			imageURLFlag(), outputFlag())...),
		Action: w.applyAction,
	}
}

func (w *world) applyAction(c *cli.Context) error {
	agreed, err := policy(c)
	if err != nil {
		return err
	}
	s, err := w.openSession(c)
	if err != nil {
		return err
	}
	defer w.end(c, s)
	p, err := planToApply(c, s, agreed)
	if err != nil {
		return err
	}
	w.warn(s, s.stale)
	return w.carryOut(c, s, p, agreed)
}

// carryOut shows a plan, asks, makes the changes and reports.
func (w *world) carryOut(c *cli.Context, s *cloudSession, p *apply.Plan, agreed apply.Policy) error {
	if !wantsJSON(c) {
		s.view.line(strings.TrimRight(p.String(), "\n"))
	}
	if err := s.CheckRecovery(c.Context, p); err != nil {
		return err
	}
	if !p.Empty() && p.Executable() {
		if err := w.preflight(c, s, p); err != nil {
			return err
		}
		if err := w.agree(c, s.view, "make these changes?"); err != nil {
			return err
		}
	}
	report, err := s.Apply(c.Context, p, agreed, w.owner())
	s.stop()
	return w.endRun(c, s, report, err)
}

// planToApply is a new plan, or the one that was kept.
func planToApply(c *cli.Context, s *cloudSession, agreed apply.Policy) (*apply.Plan, error) {
	file := c.String("plan")
	if file == "" {
		return s.Plan(c.Context, agreed)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, unreadable(file, err)
	}
	saved, err := apply.LoadPlan(file, text)
	if err != nil {
		return nil, err
	}
	if saved.Plan.Destroy {
		return nil, diag.New(diag.Pos{File: file}, "it is a plan of what to remove").
			WithHint("`talosgen destroy` makes its own, and asks for the name of the cluster").WithCode(diag.Usage)
	}
	return s.Resume(c.Context, saved, agreed)
}

// agree asks on a terminal, unless --yes answers. Where there is no terminal,
// nobody could have answered.
func (w *world) agree(c *cli.Context, view *runView, question string) error {
	if c.Bool(flagYes) {
		return nil
	}
	if !w.answers {
		return diag.On("", "there is nobody to ask: %s", question).
			WithHint("--yes answers it").WithCode(diag.Usage)
	}
	view.clear()
	if !w.yes(c.Context, question) {
		return diag.On("", "nothing was changed").WithCode(diag.Differences)
	}
	return nil
}

// yes asks a question, and reports whether the answer is yes.
func (w *world) yes(ctx context.Context, question string) bool {
	fmt.Fprintf(w.stderr, "%s [y/N] ", question)
	answer, err := w.readAnswer(ctx)
	return err == nil && (strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes"))
}

// readAnswer waits until somebody has typed a line, or has interrupted the
// question.
func (w *world) readAnswer(ctx context.Context) (string, error) {
	answer, err := interruptible(ctx, w.readLine)
	if err != nil {
		w.say("") // nobody ended the line of the question
	}
	return answer, err
}

// readLine reads a line byte by byte: what comes after it is for others.
func (w *world) readLine() (string, error) {
	var answer []byte
	for key := make([]byte, 1); ; {
		n, err := w.stdin.Read(key)
		if n == 1 && key[0] != '\n' {
			answer = append(answer, key[0])
			continue
		}
		if n == 1 || err != nil {
			return strings.TrimSpace(string(answer)), err
		}
	}
}

// owner is who runs this, for others who find the lock.
func (w *world) owner() apply.Owner {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	var id [8]byte
	_, _ = io.ReadFull(w.random, id[:]) // the time makes up for it
	return apply.Owner{Name: name, Run: fmt.Sprintf("%x-%s", w.now().Unix(), hex.EncodeToString(id[:]))}
}
