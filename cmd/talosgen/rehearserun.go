package main

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/plan"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/apply/rehearsal"
	"github.com/talosgen/talosgen/internal/diag"
)

// rehearsing is a command in a session with simulators. What it finds before it begins
// goes to the report, in refused why it would not begin; the error is that of its run.
type rehearsing func(s *session, found *foundOut) error

// foundOut is what a rehearsal found beside what was seen on the simulators.
type foundOut struct {
	risks    []rehearsal.Risk
	refused  error
	cost     string
	currency string
}

// rehearsalOf reads the flags of a command.
func rehearsalOf(c *cli.Context, what string) (rehearsing, error) {
	switch what {
	case rehearseUpgrade:
		policy, err := upgradePolicy(c)
		return func(s *session, found *foundOut) error { return rehearsedUpgrade(c, s, policy, found) }, err
	case rehearseDestroy:
		return func(s *session, found *foundOut) error { return rehearsedDestroy(c, s, found) }, nil
	}
	agreed, err := policy(c)
	return func(s *session, found *foundOut) error { return rehearsedApply(c, s, agreed, found) }, err
}

// rehearse runs a command on simulators that are as a cluster was observed.
func (r rehearseCommand) rehearse(c *cli.Context, o *rehearsal.Observed, what string, run rehearsing) (*rehearsal.Report, error) {
	site, err := newSite(c, r.app, o.Environment, resembling(c, o))
	if err != nil {
		return nil, err
	}
	defer site.close()
	recorder := &rehearsal.Recorder{Now: site.clock.Now}
	inside := site.app(r.app)
	if !c.Bool(flagVerbose) {
		inside.console.stderr, inside.console.screen, inside.console.live = io.Discard, io.Discard, false
	}
	inside.hears = recorder.Event
	k := inside.clusters()
	k.keep = func(name string, write func(io.Writer) error) (string, error) { return name, write(io.Discard) }
	var found foundOut
	var ended error
	err = k.useOf(c, o.Environment, func(s *session) error {
		ended = run(s, &found)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if c.Context.Err() != nil {
		return nil, c.Context.Err()
	}
	if what != rehearseDestroy { // after it no pod gets ready
		if err := site.clock.Sleep(c.Context, settles); err != nil {
			return nil, err
		}
	}
	report := recorder.Report(seenBy(site))
	report.Environment, report.Cluster, report.Command, report.Observed = o.Environment, o.Cluster, what, o.At
	report.Risks = append(report.Risks, found.risks...)
	report.MonthlyCost, report.Currency = found.cost, found.currency
	report.Unseen = append(report.Unseen, o.Unseen...)
	if diag.CodeOf(ended) == diag.Differences {
		report.Conclude(r.lines(found.refused), nil, r.lines(ended))
	} else {
		report.Conclude(r.lines(found.refused), r.lines(ended), nil)
	}
	return report, nil
}

// settles is how long is looked on after a run, until the last pods are ready.
const settles = 10 * time.Minute

// lines are the problems of an error.
func (r rehearseCommand) lines(err error) (lines []string) {
	var problems diag.List
	problems.AddErr(err)
	for _, p := range problems {
		lines = append(lines, r.app.console.masker.String(p.Error()))
	}
	return lines
}

// seenBy is what was seen on the simulators of a site.
func seenBy(site *trySite) (seen rehearsal.Seen) {
	moments, pods := site.fleet.Timeline()
	seen.Until = site.clock.Now()
	for _, m := range moments {
		seen.Moments = append(seen.Moments, rehearsal.Moment{At: m.At, API: m.APIServers > 0, Quorum: m.Quorum})
	}
	for _, c := range pods.Changes {
		seen.Changes = append(seen.Changes, rehearsal.Change{Kind: c.Kind, Namespace: c.Namespace, Name: c.Name, Ready: c.Ready, Wants: c.Wants, At: c.At})
	}
	for _, x := range pods.Refused {
		seen.Refused = append(seen.Refused, rehearsal.Refusal(x))
	}
	seen.Nowhere = pods.Nowhere
	return seen
}

// rehearsedApply plans and applies, with all consent that the plan asks for.
func rehearsedApply(c *cli.Context, s *session, agreed apply.Policy, found *foundOut) error {
	p, err := s.Plan(c.Context, agreed)
	if err != nil {
		return err
	}
	for !p.Executable() {
		if p.Refused() || len(p.Consents()) == 0 {
			found.refused = p.Blocked()
			return nil
		}
		found.take(p.Consents(), p.Blocked(), &agreed.Consent)
		before := len(p.Consents())
		if p, err = s.Plan(c.Context, agreed); err != nil {
			return err
		}
		if len(p.Consents()) >= before {
			found.refused = p.Blocked()
			return nil
		}
	}
	counts := p.Counts()
	found.cost, found.currency = counts.MonthlyCost, counts.Currency
	if p.Empty() {
		return nil
	}
	if found.refused = s.preflight(c, p); found.refused != nil {
		return nil
	}
	_, err = s.Apply(c.Context, p, agreed, s.owner())
	return err
}

// take takes the risks of a plan, and agrees to them. What is wrong has a line of each.
func (f *foundOut) take(flags []string, wrong error, into *plan.Consent) {
	lines := firstLines(wrong)
	for pair := range slices.Chunk(flags, 2) {
		risk := rehearsal.Risk{ID: pair[len(pair)-1]}
		for _, line := range lines {
			if name := risk.ID[strings.LastIndex(risk.ID, "/")+1:]; strings.Contains(line, name) && risk.Text == "" {
				risk.Text = line
			}
		}
		f.risks = append(f.risks, risk)
		into.Allow = append(into.Allow, risk.ID)
	}
}

// rehearsedUpgrade plans and upgrades, with all consent that the plan asks for.
func rehearsedUpgrade(c *cli.Context, s *session, policy upgradeplan.Policy, found *foundOut) error {
	p, err := apply.NewUpgrader(s.Session, policy).Plan(c.Context)
	if err != nil {
		return err
	}
	for _, risk := range p.Risks {
		found.risks = append(found.risks, rehearsal.Risk{ID: risk.ID, Text: risk.Text})
	}
	if missing := p.Missing(); len(missing) > 0 {
		policy.Allow = append(slices.Clone(policy.Allow), missing...)
	}
	upgrader := apply.NewUpgrader(s.Session, policy)
	if p, err = upgrader.Plan(c.Context); err != nil {
		return err
	}
	if found.refused = s.CheckTree(c.Context); found.refused != nil || p.Empty() && p.Executable() {
		return nil
	}
	_, err = upgrader.Run(c.Context, p, s.owner())
	if !p.Executable() {
		found.refused = err
		return nil
	}
	return err
}

// rehearsedDestroy plans and destroys, also what the cluster itself made.
func rehearsedDestroy(c *cli.Context, s *session, found *foundOut) error {
	agreed := apply.Policy{Consent: plan.Consent{
		Allow: c.StringSlice(flagAllow), AllowMade: c.Bool(flagAllowMade), Unprotect: s.env.Infrastructure.Cluster, Environment: s.env.Name(),
	}}
	p, err := s.PlanDestroy(c.Context, agreed)
	if err != nil {
		return err
	}
	agreed.AllowMade = true
	all, err := p.AgreedToDestroy(agreed)
	if err != nil {
		return err
	}
	for _, change := range all.Changes {
		if !slices.ContainsFunc(p.Changes, func(o cloudChange) bool { return o.Key == change.Key }) {
			found.risks = append(found.risks, rehearsal.Risk{ID: string(change.Key), Text: "the cluster itself created it: it stays without consent"})
		}
	}
	counts := all.Counts()
	found.cost, found.currency = counts.MonthlyCost, counts.Currency
	_, err = s.Apply(c.Context, all, agreed, s.owner())
	return err
}
