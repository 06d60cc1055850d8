package main

import (
	"fmt"
	"html"
	"strings"
)

// Sizes, in pixels.
const (
	rows       = 26  // that are seen at once
	textWidth  = 721 // of as many characters as a line has
	lineHeight = 18
	left, top  = 16, 36
	baseline   = 13 // of a line
)

// Times, in seconds.
const (
	typed = 1.2  // until the command stands there
	each  = 0.07 // between two lines
	rest  = 5.0  // at the end, before it begins again
)

// style are the colours of a light page, and of a dark one.
const style = `<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre; }
.ground { fill: #ffffff; stroke: #d0d7de; } .bar { fill: #f6f8fa; } .title { fill: #59636e; }
.bold { font-weight: 600; } .red { fill: #cf222e; } .green { fill: #1a7f37; } .yellow { fill: #9a6700; } .cyan { fill: #1b7c83; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .ground { fill: #0d1117; stroke: #30363d; } .bar { fill: #161b22; } .title { fill: #9198a1; }
.red { fill: #ff7b72; } .green { fill: #3fb950; } .yellow { fill: #d29922; } .cyan { fill: #39c5cf; }
}
`

// draw draws a command and the lines that it prints, one after the other. Whoever does
// not want to see things move sees the end.
func draw(command string, lines []line) string {
	all := append([]line{{{"bold", "$ " + command}}}, lines...)
	width := 2*left + textWidth
	height := top + rows*lineHeight + 12
	d := &drawing{}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">`,
		width, height, width, height, html.EscapeString("A terminal: "+command))
	d.printf("\n%s", style)
	d.motion(len(all))
	d.printf("</style>\n")
	d.printf(`<rect class="ground" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>`+"\n", width-1, height-1)
	d.printf(`<text class="title" x="%d" y="21">%s</text>`+"\n", left, html.EscapeString(command))
	d.printf(`<svg x="0" y="%d" width="%d" height="%d"><g class="page">`+"\n", top, width, rows*lineHeight)
	for i, l := range all {
		d.line(i, l)
	}
	d.printf("</g></svg>\n</svg>\n")
	return d.String()
}

// drawing is a picture that is being written.
type drawing struct{ strings.Builder }

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.Builder, format, args...) }

// motion lets the page move up line by line. Below the last line of the window nothing
// is seen, so the page need only move: at first all lines are below it.
func (d *drawing) motion(n int) {
	whole := typed + float64(n)*each + rest
	end := (n - rows) * lineHeight
	d.printf("@keyframes up { 0%% { transform: translateY(%dpx); }", (rows-1)*lineHeight)
	begin := typed / whole * 100
	d.printf(" %.2f%% { transform: translateY(%dpx); }", begin, (rows-1)*lineHeight)
	d.printf(" %.2f%%, 100%% { transform: translateY(%dpx); } }\n", (typed+float64(n)*each)/whole*100, -end)
	d.printf(".page { transform: translateY(%dpx); }\n", -end)
	d.printf("@media (prefers-reduced-motion: no-preference) { .page { animation: up %.1fs steps(1) infinite; animation-timing-function: steps(%d); } }\n", whole, n)
}

// line draws a line at its place on the page.
func (d *drawing) line(i int, l line) {
	d.printf(`<text x="%d" y="%d">`, left, i*lineHeight+baseline)
	for _, s := range l {
		text := html.EscapeString(s.text)
		if s.class == "" {
			d.printf("%s", text)
		} else {
			d.printf(`<tspan class="%s">%s</tspan>`, s.class, text)
		}
	}
	d.printf("</text>\n")
}
