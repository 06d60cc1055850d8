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
	// Of the terminal.
	size func() size
	// The requests left before the rate limit; -1 if that is not known.
	left func() int

	mu      sync.Mutex
	stage   string
	begun   time.Time // the stage
	steps   int       // of the stage; 0 if that is not known
	ended   int       // of its steps
	skipped int       // of its steps: they were not tried
	running []runningStep
	drawn   bool // there are lines below the cursor that the next ones replace
}

// newRunView shows a run on a console.
func newRunView(out *console, c clock) *runView {
	return &runView{
		out: out.screen, clean: out.clean, now: c.now, sleep: c.sleep, live: out.live, paints: out.coloured, size: out.size,
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
		if e.State == progress.Skipped {
			v.skipped++
			return nil // what it waits for is what matters
		}
		i = v.begin(e.Step)
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
	case progress.Done, progress.Failed, progress.Interrupted, progress.Skipped:
		v.ended++
		lines = append(lines, v.endedLine(r, e.State, first))
		v.running = slices.Delete(v.running, i, i+1)
	}
	return lines
}

// begin notes a step, and returns its place: steps that begin in the same moment are in
// the order of their names.
func (v *runView) begin(name string) int {
	now := v.now()
	i := len(v.running)
	for i > 0 && v.running[i-1].begun.Equal(now) && natural.Compare(v.running[i-1].name, name) > 0 {
		i--
	}
	v.running = slices.Insert(v.running, i, runningStep{name: name, begun: now})
	return i
}

func (v *runView) takeStage(e progress.Event) (lines []string) {
	switch e.State {
	case progress.Begun:
		v.stage, v.begun, v.steps, v.ended, v.skipped, v.running = e.Stage, v.now(), e.Steps, 0, 0, nil
		if e.Steps > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s", e.Stage, natural.Count(e.Steps, "step")))
		}
	case progress.Done, progress.Failed, progress.Interrupted:
		word := ""
		if e.State != progress.Done {
			word = " " + string(e.State) + " after"
		}
		if v.skipped > 0 {
			lines = append(lines, fmt.Sprintf("  not tried: %s", natural.Count(v.skipped, "step")))
		}
		if v.steps == 0 || e.State != progress.Done {
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
	if state != progress.Done {
		line += " " + string(state)
	}
	if line += " " + v.since(r.begun); text != "" && state != progress.Interrupted {
		line += ": " + text
	}
	return line
}

func (v *runView) since(begin time.Time) string { return summary.Seconds(v.now().Sub(begin)) }
