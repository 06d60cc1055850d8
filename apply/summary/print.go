package summary

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/sorting"
)

const (
	// columns is how wide a terminal is that is not wide.
	columns = 80
	// mostLines is how many lines the names of one action have at most: programs
	// are told all.
	mostLines = 4
	indent    = "  "
)

// String prints the report for people, 80 columns wide but for commands that are
// longer: those are to be copied. Long names lose their middle. It is the same for
// equal reports, to the byte.
func (s Summary) String() string {
	w := &writer{}
	w.line("%s: %s", s.Cluster, s.head())
	w.items("", s.Done, done)
	w.items("left to do", s.Left, todo)
	w.stages(s.Stages, s.Requests)
	w.facts(s)
	w.pending(s.Pending)
	w.next(s.Next)
	return w.String()
}

// head says how it ended, in one line.
func (s Summary) head() string {
	took := Seconds(time.Duration(s.Seconds * float64(time.Second)))
	switch s.Outcome {
	case InSync:
		return "nothing to do (" + took + ")"
	case Done:
		return "done in " + took
	case Refused:
		return "nothing was changed"
	case Interrupted:
		return "interrupted after " + took + "; what was done stays"
	}
	if len(s.Done) == 0 {
		return "failed after " + took
	}
	return "failed after " + took + "; what was done stays"
}

// Seconds prints a duration as people read it.
func Seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// past has the actions, done.
var past = map[string]string{
	"create": "created", "update": "updated", "replace": "replaced", "delete": "deleted",
	"change": "changed", "hand-over": "handed over", "take-over": "taken over",
	"configure": "configured", "stage": "staged", "join": "joined", "bootstrap": "bootstrapped",
	"drain": "drained", "reboot": "rebooted", "uncordon": "uncordoned", "snapshot": "saved",
	"install": "installed", "rollback": "rolled back to", "manifests": "brought to", "contract": "moved to contract",
	"leave": "left etcd", "remove-member": "removed from etcd", "delete-node": "removed from Kubernetes", "reset": "reset", "rewrite-secrets": "with Secrets rewritten",
}

// done is an action in the past; empty for what is no change: checks, and
// waiting.
func done(action string) string { return past[action] }

// todo is an action that is left; empty for checks and waiting.
func todo(action string) string {
	if done(action) == "" {
		return ""
	}
	return "to " + action
}

type writer struct{ strings.Builder }

// line writes one line. Texts of others cannot move the cursor of a terminal.
func (w *writer) line(format string, args ...any) {
	w.WriteString(plan.Printable(strings.TrimRight(fmt.Sprintf(format, args...), " ")) + "\n")
}

// row is the things of one action.
type row struct {
	stage, action, version string
	objects                []string
}

// items prints what was done or is to do: a row for each action of a stage.
func (w *writer) items(title string, items []Item, say func(string) string) {
	rows, width := rowsOf(items, say)
	if len(rows) == 0 {
		return
	}
	if title != "" {
		w.line("%s:", title)
	}
	last := ""
	for _, r := range rows {
		stage := r.stage
		if stage == last {
			stage = ""
		}
		last = r.stage
		first := fmt.Sprintf("%s%-*s  %d %s: ", indent, width, stage, len(r.objects), strings.TrimRight(say(r.action)+" "+r.version, " "))
		w.list(first, strings.Repeat(" ", len(indent)+width+4), shortened(r.objects, columns-len(first)-len(",")))
	}
}

// rowsOf groups items by stage and action, in the order of stages, and of the
// first that was done; the objects of a row are in the order of their names.
func rowsOf(items []Item, say func(string) string) (rows []row, width int) {
	for _, item := range items {
		if say(item.Action) == "" {
			continue
		}
		width = max(width, len(item.Stage))
		i := slices.IndexFunc(rows, func(r row) bool { return r.stage == item.Stage && r.action == item.Action && r.version == item.Version })
		if i < 0 {
			rows = append(rows, row{stage: item.Stage, action: item.Action, version: item.Version})
			i = len(rows) - 1
		}
		rows[i].objects = append(rows[i].objects, plan.Brief(item.Object))
	}
	for _, r := range rows {
		sorting.By(r.objects, natural.Compare)
	}
	sorting.By(rows, func(a, b row) int {
		return cmp.Compare(slices.Index(sections, a.stage), slices.Index(sections, b.stage))
	})
	return rows, width
}

// group matches the kind of a Kubernetes object with its API group.
var group = regexp.MustCompile(`^([A-Z][A-Za-z]*)\.[a-z0-9.-]+/`)

// shortened are names that are at most as long as a line has room: all without their API
// groups if that is too much for one, and then without their middle.
func shortened(names []string, room int) []string {
	short := slices.Clone(names)
	if slices.ContainsFunc(names, func(name string) bool { return utf8.RuneCountInString(name) > room }) {
		for i, name := range names {
			short[i] = group.ReplaceAllString(name, "$1/")
		}
	}
	for i, name := range short {
		if runes := []rune(name); len(runes) > room {
			half := (room - 1) / 2
			short[i] = string(runes[:half]) + "…" + string(runes[len(runes)-half:])
		}
	}
	return short
}

// list prints names, as many on a line as fit, and of many how many more.
func (w *writer) list(first, hang string, names []string) {
	line, lines, empty := first, 1, true
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		more := fmt.Sprintf("and %d more", len(names)-i)
		room := columns
		if lines == mostLines && i < len(names)-1 {
			room -= len(more) + 1
		}
		if !empty && utf8.RuneCountInString(line)+utf8.RuneCountInString(name) > room {
			if lines == mostLines {
				line += more
				break
			}
			w.line("%s", line)
			line, lines = hang, lines+1
		}
		line, empty = line+name+" ", false
	}
	w.line("%s", line)
}

// stages prints how long each stage took, and what it asked for.
func (w *writer) stages(stages []Stage, sum Requests) {
	if len(stages) < 2 {
		return
	}
	width := len("in all")
	var took time.Duration
	for _, s := range stages {
		width, took = max(width, len(s.Stage)), took+s.Took
	}
	kinds := asked(sum)
	head := fmt.Sprintf("%-*s  %8s", width, "stage", "time")
	for _, k := range kinds {
		head += "  " + k.name
	}
	if len(kinds) > 0 {
		head += "  (requests)"
	}
	w.line("%s%s", indent, head)
	for _, s := range append(slices.Clone(stages), Stage{Stage: "in all", Took: took, Requests: sum}) {
		line := fmt.Sprintf("%-*s  %8s", width, s.Stage, Seconds(s.Took))
		for _, k := range kinds {
			line += fmt.Sprintf("  %*d", len(k.name), k.of(s.Requests))
		}
		w.line("%s%s", indent, line)
	}
}

// asking is a kind of requests.
type asking struct {
	name string
	of   func(Requests) int
}

// asked are the APIs that were asked for something.
func asked(sum Requests) []asking {
	all := []asking{
		{"Hetzner", func(r Requests) int { return r.Hetzner }},
		{"nodes", func(r Requests) int { return r.Nodes }},
		{"Kubernetes", func(r Requests) int { return r.Kubernetes }},
	}
	return slices.DeleteFunc(all, func(a asking) bool { return a.of(sum) == 0 })
}

// facts are costs, and what is left of the rate limit.
func (w *writer) facts(s Summary) {
	if s.RequestsLeft >= 0 && s.Requests.Hetzner > 0 {
		used := ""
		if len(s.Stages) < 2 {
			used = fmt.Sprintf("%d used, ", s.Requests.Hetzner)
		}
		w.line("requests to Hetzner Cloud: %s%d left in this hour", used, s.RequestsLeft)
	}
	if s.Cost != nil {
		c := s.Cost.rounded()
		sum := fmt.Sprintf("%s %s net, %s gross", c.After.Net, c.Currency, c.After.Gross)
		if c.Before != c.After {
			sum = fmt.Sprintf("%s -> %s %s net, %s -> %s gross", c.Before.Net, c.After.Net, c.Currency, c.Before.Gross, c.After.Gross)
		}
		if len(s.Left) > 0 {
			sum += ", once all is done"
		}
		w.line("cost of a month: %s", sum)
	}
}

// rounded has prices with two digits.
func (c Cost) rounded() Cost {
	c.Before, c.After = c.Before.Rounded(), c.After.Rounded()
	return c
}

// mostPending is how many lines of one kind are printed.
const mostPending = 8

func (w *writer) pending(all []Pending) {
	if len(all) == 0 {
		return
	}
	w.line("pending:")
	shown, hidden := map[string]int{}, map[string]int{}
	for _, p := range similar(all) {
		if shown[p.Kind] == mostPending {
			hidden[p.Kind]++
			continue
		}
		shown[p.Kind]++
		text := p.Text
		if p.Object != "" {
			text = p.Object + ": " + text
		}
		if p.Hint != "" {
			text += "; " + p.Hint
		}
		w.wrap(indent, indent+indent, text)
	}
	for _, kind := range []string{Held, Reboots, Unreachable, Health, Status, Conflict, Waiting, Access} {
		if hidden[kind] > 0 {
			w.line("%sand %d more (%s)", indent, hidden[kind], kind)
		}
	}
}

// wrap prints words, as many on a line as fit.
func (w *writer) wrap(first, hang, text string) {
	line, empty := first, true
	for _, word := range strings.Fields(text) {
		if !empty && utf8.RuneCountInString(line)+utf8.RuneCountInString(word) > columns {
			w.line("%s", line)
			line = hang
		}
		line, empty = line+word+" ", false
	}
	w.line("%s", line)
}

// next prints commands, each with what it is for above it: it can be copied as a
// line.
func (w *writer) next(commands []Command) {
	if len(commands) == 0 {
		return
	}
	w.line("next:")
	for _, c := range commands {
		w.line("%s%s", indent, c.Command)
		w.wrap(indent+indent+indent, indent+indent+indent, c.Reason)
	}
}
