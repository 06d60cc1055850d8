package timeline

import (
	"fmt"
	"math"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/rehearsal"
)

// Sizes, in the units of the picture.
const (
	width      = 1120
	namesWidth = 400 // of the names of steps
	rightEdge  = 24  // right of the last moment
	headHeight = 26
	rowHeight  = 17
	mostOfName = 58 // characters
	leastBar   = 2.0
)

// picture is the steps of a run on a line of time.
type picture struct {
	Width, Height int
	Rows          int // the height of all rows
	Ticks         []tick
	Gaps          []gap
	Bars          []bar
}

// tick is a moment with its name.
type tick struct{ X, Label string }

// gap is a time at which a part of the control plane is away.
type gap struct {
	X, Width, Label, Tip string
	Y                    int    // of its label, below all steps
	LabelX, Anchor       string // where the label begins, or ends
}

// bar is a step, or the title of a stage above its steps.
type bar struct {
	Stage      string
	Label, Tip string
	Class      string // step, takes pods away, or fails
	X, Width   string
	Y, Top     int
}

// scale is where moments are.
type scale struct{ seconds float64 }

func (s scale) at(second float64) float64 {
	return namesWidth + min(max(second, 0), s.seconds)/s.seconds*(width-namesWidth-rightEdge)
}

// number is a coordinate. It is the same text on every machine.
func number(x float64) string { return fmt.Sprintf("%.1f", x) }

// drawn is the picture of a report; nil if it has no steps.
func drawn(r *rehearsal.Report) *picture {
	if len(r.Steps) == 0 {
		return nil
	}
	s := scale{lasts(r)}
	p := &picture{Width: width}
	stage, y := "", headHeight
	for _, step := range r.Steps {
		if step.Stage != stage {
			stage = step.Stage
			p.Bars = append(p.Bars, bar{Stage: plan.Printable(stage), Y: y + rowHeight - 5})
			y += rowHeight
		}
		p.Bars = append(p.Bars, barOf(step, s, y))
		y += rowHeight
	}
	p.Rows = y - 20
	for i, g := range r.Gaps {
		p.Gaps = append(p.Gaps, gapOf(r, g, s, y+(i+1)*rowHeight-5))
	}
	p.Height = y + len(r.Gaps)*rowHeight + 6
	for _, second := range moments(s.seconds) {
		p.Ticks = append(p.Ticks, tick{number(s.at(second)), rehearsal.Duration(second)})
	}
	return p
}

// lasts is how long the picture is, in seconds.
func lasts(r *rehearsal.Report) float64 {
	end := r.Seconds
	for _, step := range r.Steps {
		end = max(end, step.At+step.Seconds)
	}
	for _, g := range r.Gaps {
		end = max(end, g.At+g.Seconds)
	}
	return max(end, 1)
}

func barOf(step rehearsal.Step, s scale, y int) bar {
	class := "step"
	switch {
	case step.Failed:
		class = "fails"
	case len(step.Disturbs) > 0:
		class = "takes"
	}
	begin, end := s.at(step.At), s.at(step.At+step.Seconds)
	return bar{
		Label: shortened(plan.Brief(plan.Printable(step.Name))), Class: class,
		Tip: fmt.Sprintf("%s: from %s on, for %s", step.Text(), rehearsal.Duration(step.At), rehearsal.Duration(step.Seconds)),
		X:   number(begin), Width: number(max(end-begin, leastBar)), Y: y + rowHeight - 5, Top: y + 3,
	}
}

func gapOf(r *rehearsal.Report, g rehearsal.Gap, s scale, y int) gap {
	begin, end := s.at(g.At), s.at(g.At+g.Seconds)
	anchor, x := "start", begin
	if begin > (namesWidth+width)/2 { // there is more room before it
		anchor, x = "end", end
	}
	return gap{
		X: number(begin), Width: number(max(end-begin, leastBar)), Y: y, LabelX: number(x), Anchor: anchor,
		Label: r.Label(g),
		Tip:   r.Text(g),
	}
}

// shortened is a name that has room, without its middle if it is long.
func shortened(name string) string {
	runes := []rune(name)
	if len(runes) <= mostOfName {
		return name
	}
	half := (mostOfName - 1) / 2
	return string(runes[:half]) + "…" + string(runes[len(runes)-half:])
}

// paces are the times between two ticks that people count in, in seconds.
var paces = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400}

// mostTicks is how many moments have a name.
const mostTicks = 8

// moments are those that have a name.
func moments(seconds float64) (all []float64) {
	pace := paces[len(paces)-1]
	for _, p := range paces {
		if seconds/p <= mostTicks {
			pace = p
			break
		}
	}
	pace *= math.Ceil(seconds / pace / mostTicks)
	for at := 0.0; at <= seconds; at += pace {
		all = append(all, at)
	}
	return all
}
