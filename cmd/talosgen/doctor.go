package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/internal/diag"
)

// doctorCommand checks what could keep apply from working.
type doctorCommand struct{ clusters clusters }

func (d doctorCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "check for problems that would make apply fail",
		ArgsUsage: "<env>",
		Description: `Runs the checks that apply runs before its first change, and changes nothing: the
rendered tree is sound, committed and pushed; the token is valid and can write;
server types are available; limits and address ranges suffice; no other cluster
has the name; the firewall allows your address. It reminds of a rotation that is
half done. To find your public address it
queries icanhazip.com, and if an image must be built, it queries the Image Factory
for extensions.

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
	findings = append(append([]preflight.Finding{d.tree(c, s)}, s.stale...), findings...)
	findings = append(findings, preflight.Placeholders(&p.Desired)...)
	if f := s.env.RotationFinding(c.Context); f != nil {
		findings = append(findings, *f)
	}
	if forPrograms(c) {
		if err := s.out.printValue(c, findings); err != nil {
			return err
		}
	} else if err := s.out.printText(preflight.Text(findings)); err != nil {
		return err
	}
	s.sayRequests()
	if err := preflight.Failures(findings); err != nil {
		return diag.On("", "apply would fail").WithCode(diag.CodeOf(err))
	}
	return nil
}

// tree says what was checked when the session was opened.
func (d doctorCommand) tree(c *cli.Context, s *session) preflight.Finding {
	f := preflight.Finding{Check: "tree", State: preflight.OK, Text: "rendered/" + s.env.Name() + " has a valid seal, and is committed and pushed"}
	if c.Bool(flagAllowDirty) {
		f.State, f.Text = preflight.Warning, "rendered/"+s.env.Name()+" has a valid seal; Git was not checked (--"+flagAllowDirty+")"
	}
	return f
}
