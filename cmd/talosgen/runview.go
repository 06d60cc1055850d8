package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/apply/summary"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/printable"
)

// runView shows a run of apply while it goes on: on a terminal what is being
// done at the moment, below what is done; elsewhere one line for each step. It
// is safe for concurrent use.
type runView struct {
	out io.Writer
	// Makes one line of a text that may be shown, before it is cut.
	clean func(string) string
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
	live  bool
	// Whether texts for people have colours.
	paints bool
	// Of the terminal, in columns.
	width func() int
	// The requests left before the rate limit; -1 if that is not known.
	left func() int

	mu      sync.Mutex
	stage   string
	begun   time.Time // the stage
	steps   int       // of the stage; 0 if that is not known
	ended   int       // of its steps
	running []runningStep
	drawn   int // lines on the terminal that the next ones replace
}

// newRunView shows a run on a console.
func newRunView(out *console, c clock) *runView {
	return &runView{
		out: out.screen, clean: out.clean, now: c.now, sleep: c.sleep, live: out.live, paints: out.coloured, width: out.width,
		left: func() int { return -1 },
	}
}

// redrawEvery is how often a terminal shows that time goes on.
const redrawEvery = 500 * time.Millisecond

// start lets times go on, on a terminal, while nothing else happens. The view is
// shown until stop is called.
func (v *runView) start() (stop func()) {
	if !v.live {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for v.sleep(ctx, redrawEvery) == nil {
			v.redraw()
		}
	}()
	return func() { cancel(); <-done; v.clear() }
}

type runningStep struct {
	name, note string
	begun      time.Time
}

// mostRunning is how many steps are shown at once.
const mostRunning = 8

// event shows an event of the run.
func (v *runView) event(e progress.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.show(v.take(e))
}

// redraw shows times that went on.
func (v *runView) redraw() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.live && v.stage != "" {
		v.show(nil)
	}
}

// line shows a line that stays, which is no news of a step.
func (v *runView) line(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	text = printable.Text(text)
	if v.paints {
		text = painted(text)
	}
	v.show(strings.Split(text, "\n"))
}

// clear ends the view: what was being done is not shown any more.
func (v *runView) clear() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stage, v.running = "", nil
	v.show(nil)
}

// take changes the state, and returns the lines that stay.
func (v *runView) take(e progress.Event) (lines []string) {
	if e.Step == "" {
		return v.takeStage(e)
	}
	e.Step = v.clean(e.Step)
	i := slices.IndexFunc(v.running, func(r runningStep) bool { return r.name == e.Step })
	if i < 0 {
		v.running = append(v.running, runningStep{name: e.Step, begun: v.now()})
		i = len(v.running) - 1
	}
	r := &v.running[i]
	first, _, _ := strings.Cut(e.Text, "\n")
	first = v.clean(first)
	switch e.State {
	case progress.Note:
		if !v.live && first != "" && first != r.note {
			lines = append(lines, fmt.Sprintf("  %s: %s", e.Step, first))
		}
		r.note = first
	case progress.Waited:
		lines = append(lines, "  "+r.name+" "+v.since(r.begun))
		v.running = slices.Delete(v.running, i, i+1)
	case progress.Done, progress.Failed:
		v.ended++
		lines = append(lines, v.endedLine(r, e.State, first))
		v.running = slices.Delete(v.running, i, i+1)
	}
	return lines
}

func (v *runView) takeStage(e progress.Event) (lines []string) {
	switch e.State {
	case progress.Begun:
		v.stage, v.begun, v.steps, v.ended, v.running = e.Stage, v.now(), e.Steps, 0, nil
		if e.Steps > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s", e.Stage, natural.Count(e.Steps, "step")))
		}
	case progress.Done, progress.Failed:
		word := ""
		if e.State == progress.Failed {
			word = " failed after"
		}
		if v.steps == 0 || e.State == progress.Failed {
			lines = append(lines, fmt.Sprintf("%s%s %s", e.Stage, word, v.since(v.begun)))
		}
		v.stage, v.running = "", nil
	}
	return lines
}

func (v *runView) endedLine(r *runningStep, state progress.State, text string) string {
	number := ""
	if v.steps > 0 {
		v.steps = max(v.steps, v.ended) // a run may find more to do
		number = fmt.Sprintf("[%*d/%d] ", len(fmt.Sprint(v.steps)), v.ended, v.steps)
	}
	line := "  " + number + r.name
	if state == progress.Failed {
		line += " failed"
	}
	if line += " " + v.since(r.begun); text != "" {
		line += ": " + text
	}
	return line
}

// show prints lines that stay, and on a terminal what is going on below them.
func (v *runView) show(lines []string) {
	var b strings.Builder
	if v.live && v.drawn > 0 {
		fmt.Fprintf(&b, "\r\x1b[%dA\x1b[J", v.drawn) // to where they began, also behind what was typed, and clear from there on
		v.drawn = 0
	}
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	if v.live && v.stage != "" {
		for _, line := range v.current() {
			b.WriteString(fit(line, v.width()) + "\n")
			v.drawn++
		}
	}
	if b.Len() > 0 {
		_, _ = io.WriteString(v.out, b.String()) // there is no other output
	}
}

// current are the lines about what is going on.
func (v *runView) current() []string {
	head := v.stage
	if v.steps > 0 {
		head += fmt.Sprintf(" %d/%d", v.ended, v.steps)
	}
	head += ", " + v.since(v.begun)
	if left := v.left(); left >= 0 {
		head += fmt.Sprintf(", %d requests left", left)
	}
	lines := []string{head}
	for i, r := range v.running {
		if i == mostRunning {
			lines = append(lines, fmt.Sprintf("  and %d more", len(v.running)-i))
			break
		}
		line := fmt.Sprintf("  %s %s", r.name, v.since(r.begun))
		if r.note != "" {
			line += ": " + r.note
		}
		if len(v.running) == 1 {
			lines = append(lines, folded(line, v.width())...)
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

func (v *runView) since(begin time.Time) string { return summary.Seconds(v.now().Sub(begin)) }

// mostOfNote is how many lines the only thing takes at most that is being done.
const mostOfNote = 4

// folded breaks a line for a terminal between words. Of what is too long even
// so, the last line is cut.
func folded(line string, width int) (lines []string) {
	const hang = "      "
	room := width - 1
	for len(lines) < mostOfNote-1 && len([]rune(line)) > room && room > 2*len(hang) {
		runes := []rune(line)
		at := room
		for at > room/2 && runes[at] != ' ' {
			at--
		}
		if runes[at] != ' ' {
			at = room
		}
		lines = append(lines, strings.TrimRight(string(runes[:at]), " "))
		line = hang + strings.TrimLeft(string(runes[at:]), " ")
	}
	return append(lines, line)
}

// fit cuts a line for a terminal, on which a longer one would be two.
func fit(line string, width int) string {
	runes := []rune(line)
	if width < 2 || len(runes) < width {
		return line
	}
	return string(runes[:width-2]) + "…"
}
