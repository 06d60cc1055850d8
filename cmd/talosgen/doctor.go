package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
)

// doctorCommand checks what could keep apply from working.
type doctorCommand struct{ clusters clusters }

func (d doctorCommand) command() *cli.Command {
	return &cli.Command{
		Name:         "doctor",
		Usage:        "check what could keep apply from working, and change nothing",
		ArgsUsage:    "<env>",
		BashComplete: d.clusters.ws.completeEnvironments(false),
		Description: `Makes the checks that apply makes before its first write, and says of each what
it found: is the rendered tree sound, committed and pushed; is the token valid,
and may it write; are server types to be had; do limits and ranges suffice; does
another cluster have the name; does the firewall let you in. To tell that, it
asks icanhazip.com for your public address, and the Image Factory which
extensions it has, if an image has to be made.

Examples:
   talosgen doctor prod
   talosgen doctor prod -o json`,
		Flags:  sessionFlags(outputFlag()),
		Action: d.run,
	}
}

func (d doctorCommand) run(c *cli.Context) error {
	return d.clusters.use(c, func(s *session) error { return d.check(c, s) })
}

// check prints what each check found.
func (d doctorCommand) check(c *cli.Context, s *session) error {
	p, err := s.Plan(c.Context, apply.Policy{Stages: []apply.Stage{apply.StageInfrastructure}})
	if err != nil {
		return err
	}
	findings, err := s.Check(c.Context, p, s.own(c.Context))
	s.stop()
	if err != nil {
		return err
	}
	findings = append(append([]apply.Finding{d.tree(c, s)}, s.stale...), findings...)
	if wantsJSON(c) {
		if err := s.out.printJSON(findings); err != nil {
			return err
		}
	} else if err := s.out.printText(apply.FindingsText(findings)); err != nil {
		return err
	}
	s.sayRequests()
	if err := apply.FailedChecks(findings); err != nil {
		return diag.On("", "apply would fail").WithCode(diag.CodeOf(err))
	}
	return nil
}

// tree says what was checked when the session was opened.
func (d doctorCommand) tree(c *cli.Context, s *session) apply.Finding {
	f := apply.Finding{Check: "tree", State: apply.Fine, Text: "rendered/" + s.env.Name() + " is as it was rendered and sealed, committed and pushed"}
	if c.Bool(flagAllowDirty) {
		f.State, f.Text = apply.Warning, "rendered/"+s.env.Name()+" is as it was rendered and sealed; Git was not asked (--"+flagAllowDirty+")"
	}
	return f
}
