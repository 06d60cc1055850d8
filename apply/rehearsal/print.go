package rehearsal

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/natural"
)

// String is the report for people.
func (r *Report) String() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "rehearsal of %s for %s (cluster %s), as it was at %s: %s\n", r.Command, r.Environment, r.Cluster, r.Observed.UTC().Format("2006-01-02 15:04 UTC"), r.verdict())
	section(&b, "problems", "", r.Problems)
	var risks []string
	for _, risk := range r.Risks {
		line := "--allow " + risk.ID
		if risk.Text != "" {
			line += "   " + risk.Text
		}
		risks = append(risks, line)
	}
	section(&b, "takes consent", Computed, risks)
	r.steps(&b)
	r.pods(&b)
	var gaps []string
	for _, g := range r.Gaps {
		gaps = append(gaps, fmt.Sprintf("%s is away for %s, from %s on", g.What, duration(g.Seconds), duration(g.At)))
	}
	section(&b, "control plane", Estimated, gaps)
	if r.MonthlyCost != "" {
		section(&b, "cost of a month", Computed, []string{r.MonthlyCost + " " + r.Currency + " net"})
	}
	section(&b, "not looked at, or not simulated", "", r.Unseen)
	return b.String()
}

// verdict is the result in words.
func (r *Report) verdict() string {
	switch r.Result {
	case Refused:
		return "it would not begin"
	case Failed:
		return "it would stop before its end"
	case Risks:
		return "it comes to its end, with risks"
	}
	if len(r.Steps) == 0 {
		return "there is nothing to do"
	}
	return "clear"
}

// section prints lines below a title, which says how sure they are.
func section(b *bytes.Buffer, title string, sure Sure, lines []string) {
	if len(lines) == 0 {
		return
	}
	if sure != "" {
		title += " (" + string(sure) + ")"
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "  %s\n", strings.ReplaceAll(strings.TrimRight(line, "\n"), "\n", "\n  "))
	}
}

// mostNamed is how many workloads a step names.
const mostNamed = 3

// steps prints what is done, and when.
func (r *Report) steps(b *bytes.Buffer) {
	if len(r.Steps) == 0 {
		return
	}
	var table bytes.Buffer
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, s := range r.Steps {
		text := plan.Brief(plan.Printable(s.Name))
		if s.Failed {
			text += ": fails"
		}
		if n := len(s.Disturbs); n > 0 {
			named := s.Disturbs[:min(n, mostNamed)]
			text += "; takes pods from " + strings.Join(named, ", ")
			if n > mostNamed {
				text += fmt.Sprintf(" and %d more", n-mostNamed)
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", duration(s.At), duration(s.Seconds), s.Stage, text)
	}
	_ = t.Flush() // a buffer takes everything
	title := fmt.Sprintf("%s in %s: begin, duration (both estimated), stage, what (computed)", natural.Count(len(r.Steps), "step"), duration(r.Seconds))
	section(b, title, "", strings.Split(strings.TrimRight(table.String(), "\n"), "\n"))
}

// pods prints what becomes of pods.
func (r *Report) pods(b *bytes.Buffer) {
	var lines []string
	for _, w := range r.Workloads {
		line := fmt.Sprintf("%s %s/%s: %d of %d ready at the worst; fewer than it wants for %s", w.Kind, w.Namespace, w.Name, w.Lowest, w.Wants, duration(w.Below))
		if w.Zero > 0 {
			line += ", none for " + duration(w.Zero)
		}
		if w.Stays {
			line += ", and still at the end"
		}
		lines = append(lines, line)
	}
	section(b, "workloads", Estimated, lines)
	lines = nil
	for _, x := range r.Budgets {
		lines = append(lines, fmt.Sprintf("%s/%s refuses %s for %s: %s", x.Namespace, x.Name, natural.Count(x.Refusals, "eviction"), duration(x.Seconds), strings.Join(x.Pods, ", ")))
	}
	section(b, "budgets that hold up", Estimated, lines)
	lines = nil
	for _, n := range r.Nowhere {
		lines = append(lines, n.Pod+": "+n.Why)
	}
	section(b, "pods that fit nowhere for a while", Computed, lines)
}

// duration is a number of seconds for people, such as 1m30s.
func duration(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}
