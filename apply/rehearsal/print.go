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

// Section is a part of a report, in lines for people.
type Section struct {
	Title string // with how sure it is
	Lines []string
}

// Title is what was rehearsed, and its result in words.
func (r *Report) Title() string {
	return fmt.Sprintf("rehearsal of %s for %s (cluster %s), as it was at %s: %s", r.Command, r.Environment, r.Cluster, r.Observed.UTC().Format("2006-01-02 15:04 UTC"), r.verdict())
}

// String is the report for people.
func (r *Report) String() string {
	var b strings.Builder
	b.WriteString(r.Title() + "\n")
	for _, s := range r.Sections() {
		b.WriteString("\n" + s.Title + "\n")
		for _, line := range s.Lines {
			b.WriteString("  " + strings.ReplaceAll(line, "\n", "\n  ") + "\n")
		}
	}
	return b.String()
}

// Sections are the parts of the report that have something to say.
func (r *Report) Sections() []Section {
	var p parts
	p.add("problems", "", r.Problems)
	var risks []string
	for _, risk := range r.Risks {
		line := "--allow " + risk.ID
		if risk.Text != "" {
			line += "   " + risk.Text
		}
		risks = append(risks, line)
	}
	p.add("takes consent", Computed, risks)
	r.steps(&p)
	r.pods(&p)
	var gaps []string
	for _, g := range r.Gaps {
		gaps = append(gaps, r.Text(g))
	}
	p.add("control plane", Estimated, gaps)
	if r.MonthlyCost != "" {
		p.add("cost of a month", Computed, []string{r.MonthlyCost + " " + r.Currency + " net"})
	}
	p.add("not looked at, or not simulated", "", r.Unseen)
	return p
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

// parts are sections that are being made.
type parts []Section

// add adds lines below a title, which says how sure they are; nothing without lines.
func (p *parts) add(title string, sure Sure, lines []string) {
	if len(lines) == 0 {
		return
	}
	if sure != "" {
		title += " (" + string(sure) + ")"
	}
	var trimmed []string
	for _, line := range lines {
		trimmed = append(trimmed, strings.TrimRight(line, "\n"))
	}
	*p = append(*p, Section{title, trimmed})
}

// Text is the step in one line: what it does, whether it fails, and what it takes pods from.
func (s Step) Text() string {
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
	return text
}

// mostNamed is how many workloads a step names.
const mostNamed = 3

// Text is a gap in one line. With a cluster that is destroyed its control plane ends.
func (r *Report) Text(g Gap) string {
	text := fmt.Sprintf("%s is away for %s, from %s on", g.What, Duration(g.Seconds), Duration(g.At))
	switch {
	case g.Stays && r.ends:
		return fmt.Sprintf("%s ends with the cluster, after %s", g.What, Duration(g.At))
	case g.Stays:
		return text + ", and still at the end"
	}
	return text
}

// Label is a gap in few words.
func (r *Report) Label(g Gap) string {
	if g.Stays && r.ends {
		return g.What + " ends"
	}
	return fmt.Sprintf("%s away for %s", g.What, Duration(g.Seconds))
}

// steps prints what is done, and when.
func (r *Report) steps(p *parts) {
	if len(r.Steps) == 0 {
		return
	}
	var table bytes.Buffer
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, s := range r.Steps {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", Duration(s.At), Duration(s.Seconds), s.Stage, s.Text())
	}
	_ = t.Flush() // a buffer takes everything
	title := fmt.Sprintf("%s in %s: begin, duration (both estimated), stage, what (computed)", natural.Count(len(r.Steps), "step"), Duration(r.Seconds))
	p.add(title, "", strings.Split(strings.TrimRight(table.String(), "\n"), "\n"))
}

// pods prints what becomes of pods.
func (r *Report) pods(p *parts) {
	var lines []string
	for _, w := range r.Workloads {
		if w.Stays && r.ends {
			lines = append(lines, fmt.Sprintf("%s %s/%s ends with the cluster", w.Kind, w.Namespace, w.Name))
			continue
		}
		line := fmt.Sprintf("%s %s/%s: %d of %d ready at the worst; fewer than it wants for %s", w.Kind, w.Namespace, w.Name, w.Lowest, w.Wants, Duration(w.Below))
		if w.Zero > 0 {
			line += ", none for " + Duration(w.Zero)
		}
		if w.Stays {
			line += ", and still at the end"
		}
		lines = append(lines, line)
	}
	p.add("workloads", Estimated, lines)
	lines = nil
	for _, x := range r.Budgets {
		lines = append(lines, fmt.Sprintf("%s/%s refuses %s for %s: %s", x.Namespace, x.Name, natural.Count(x.Refusals, "eviction"), Duration(x.Seconds), strings.Join(x.Pods, ", ")))
	}
	p.add("budgets that hold up", Estimated, lines)
	lines = nil
	for _, n := range r.Nowhere {
		lines = append(lines, n.Pod+": "+n.Why)
	}
	p.add("pods that fit nowhere for a while", Computed, lines)
}

// Duration is a number of seconds for people, such as 1m30s.
func Duration(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}
