package main

import (
	"net/netip"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/diag"
)

func doctorCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:         "doctor",
		Usage:        "check what could keep apply from working, and change nothing",
		ArgsUsage:    "<env>",
		BashComplete: w.completeEnvironments(false),
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
		Action: w.doctorAction,
	}
}

func (w *world) doctorAction(c *cli.Context) error {
	s, err := w.openSession(c)
	if err != nil {
		return err
	}
	defer s.stop()
	p, err := s.Plan(c.Context, apply.Policy{Stages: []apply.Stage{apply.StageInfrastructure}})
	if err != nil {
		return err
	}
	findings, err := s.Check(c.Context, p, w.own(c, s))
	s.stop()
	if err != nil {
		return err
	}
	findings = append(append([]apply.Finding{w.treeFinding(c, s)}, s.stale...), findings...)
	if wantsJSON(c) {
		if err := w.printJSON(findings); err != nil {
			return err
		}
	} else if err := w.printText(apply.FindingsText(findings)); err != nil {
		return err
	}
	w.sayRequests(s)
	if err := apply.FailedChecks(findings); err != nil {
		return diag.On("", "apply would fail").WithCode(diag.CodeOf(err))
	}
	return nil
}

// treeFinding says what was checked when the session was opened.
func (w *world) treeFinding(c *cli.Context, s *cloudSession) apply.Finding {
	f := apply.Finding{Check: "tree", State: apply.Fine, Text: "rendered/" + s.env.Name() + " is as it was rendered and sealed, committed and pushed"}
	if c.Bool(flagAllowDirty) {
		f.State, f.Text = apply.Warning, "rendered/"+s.env.Name()+" is as it was rendered and sealed; Git was not asked (--"+flagAllowDirty+")"
	}
	return f
}

// own are the public addresses of whoever runs this.
func (w *world) own(c *cli.Context, s *cloudSession) []netip.Addr {
	if s.local {
		return simulatedOwn
	}
	return w.ownAddresses(c.Context)
}

// preflight checks what apply is about to do, and prints what is wrong or worth
// knowing.
func (w *world) preflight(c *cli.Context, s *cloudSession, p *apply.Plan) error {
	findings, err := s.Check(c.Context, p, w.own(c, s))
	if err != nil {
		return err
	}
	w.warn(s, findings)
	return apply.FailedChecks(findings)
}

// warn prints those findings that are warnings.
func (w *world) warn(s *cloudSession, findings []apply.Finding) {
	for _, f := range findings {
		if f.State == apply.Warning {
			text := w.colour(yellow, "warning:") + " " + f.Check + ": " + f.Text
			if f.Hint != "" {
				text += "\n  " + f.Hint
			}
			s.view.line(text)
		}
	}
}
