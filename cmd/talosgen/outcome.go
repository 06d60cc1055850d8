package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/comment"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/printable"
	"github.com/talosgen/talosgen/internal/secret"
)

// Results of a command for one environment.
const (
	inSync      = "in sync"
	done        = "done"
	differs     = "differs"
	failed      = "failed"
	interrupted = "interrupted"
	notStarted  = "not started"
)

// outcome is what a command found of one environment, beside others.
type outcome struct {
	Env      string `json:"environment"`
	Result   string `json:"result"`
	ExitCode int    `json:"exitCode"`
	// How much is not as Git has it; nil: that is not known.
	Changes *int `json:"changes,omitempty"`
	// How much more a month costs, with its sign.
	MonthlyCost string `json:"monthlyCost,omitempty"`
	Currency    string `json:"currency,omitempty"`
	// What keeps the changes from being made, one line each.
	Blocked []string `json:"blocked,omitempty"`
	// Why it failed, one line each.
	Problems []string `json:"problems,omitempty"`
	// What the command prints for this environment alone.
	Report json.RawMessage `json:"report,omitempty"`

	done     string            // the result of who changes something; empty: of who only looks
	sections []comment.Section // what is told of it in Markdown
}

// plan notes what a plan is about. Without an outcome to tell, nothing happens.
func (o *outcome) plan(p *apply.Plan) {
	if o == nil {
		return
	}
	n := p.Counts()
	changes := n.Add + n.Change + n.Replace + n.Destroy
	o.Changes, o.MonthlyCost, o.Currency = &changes, n.MonthlyCost, n.Currency
	o.Blocked = firstLines(p.Blocked())
}

// changes notes how many things are not as Git has them, and what of that is known to
// need somebody.
func (o *outcome) changes(n int, blocked ...string) {
	if o != nil {
		o.Changes, o.Blocked = &n, blocked
	}
}

// end notes how the command ended.
func (o *outcome) end(code int, err error, masker *secret.Masker) {
	o.ExitCode = code
	switch diag.Code(code) {
	case diag.OK:
		o.Result = cmp.Or(o.done, inSync)
	case diag.Differences:
		o.Result = differs
	case diag.Interrupted:
		o.Result = interrupted
	default:
		o.Result = failed
		o.Problems = firstLines(err)
	}
	for _, lines := range [][]string{o.Blocked, o.Problems} {
		for i := range lines {
			lines[i] = printable.Line(masker.String(lines[i]))
		}
	}
}

// firstLines are the problems of an error without their hints.
func firstLines(err error) (lines []string) {
	var problems diag.List
	problems.AddErr(err)
	for _, p := range problems {
		line, _, _ := strings.Cut(p.Error(), "\n")
		lines = append(lines, line)
	}
	return lines
}

// why is what an operator has to see to first.
func (o *outcome) why() string {
	all := append(append([]string{}, o.Problems...), o.Blocked...)
	if len(all) == 0 {
		return ""
	}
	text := []rune(all[0])
	if len(text) > mostWhy {
		text = append(text[:mostWhy-1], '…')
	}
	if len(all) == 1 {
		return string(text)
	}
	return fmt.Sprintf("%s (and %d more)", string(text), len(all)-1)
}

// mostWhy is how long a reason is in a table: the whole one stands above it.
const mostWhy = 80

// outcomeHead are the titles of a row.
func outcomeHead() []string {
	return []string{"environment", "result", "changes", "cost of a month", "blocked by"}
}

// row is an environment in a table.
func (o *outcome) row() []string {
	changes, cost := "-", "-"
	if o.Changes != nil {
		changes = strconv.Itoa(*o.Changes)
	}
	if o.MonthlyCost != "" {
		cost = o.MonthlyCost + " " + o.Currency
	}
	result := o.Result
	if result == failed {
		result = fmt.Sprintf("%s (exit code %d)", result, o.ExitCode)
	}
	return []string{o.Env, result, changes, cost, o.why()}
}

// outcomeTable is a line for each environment.
func outcomeTable(runs []*manyRun) string {
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(outcomeHead(), "\t"))
	for _, r := range runs {
		fmt.Fprintln(t, strings.Join(r.outcome.row(), "\t"))
	}
	_ = t.Flush() // a buffer takes everything
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// show prints what the run of one environment has printed.
func (r *manyRun) show(out *console) {
	if text := r.stderr.text(); text != "" {
		out.say("%s:\n%s", r.outcome.Env, strings.TrimRight("  "+strings.ReplaceAll(text, "\n", "\n  "), " \n"))
	}
	if text := r.stdout.Bytes(); len(text) > 0 && !json.Valid(text) {
		_ = out.printData(append(text, '\n')) // if that fails, so does what comes after it
	}
}

// endMany tells of all environments, and ends the command as the worst of them.
func endMany(c *cli.Context, out *console, runs []*manyRun) error {
	worst := int(diag.OK)
	outcomes := []outcome{}
	for _, r := range runs {
		if r.panicked != nil {
			panic(r.panicked)
		}
		if worst = max(worst, r.outcome.ExitCode); json.Valid(r.stdout.Bytes()) {
			r.outcome.Report = r.stdout.Bytes()
		}
		outcomes = append(outcomes, r.outcome)
	}
	show := func() error { return out.printText(outcomeTable(runs)) }
	switch c.String(flagOutput) {
	case jsonFormat, yamlFormat:
		show = func() error { return out.printValue(c, outcomes) }
	case asMarkdown:
		show = func() error {
			return out.printData([]byte(out.masker.String(outcomesMarkdown(c.Command.Name, outcomes))))
		}
	}
	switch err := show(); {
	case err != nil:
		return err
	case worst == int(diag.OK):
		return nil
	case worst == int(diag.Differences):
		return errDifferences
	}
	return commandExit(worst)
}

// syncBuffer is a buffer that several goroutines write to.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write takes in what is printed.
func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

// text is what was printed so far.
func (s *syncBuffer) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
