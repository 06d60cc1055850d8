package main

import (
	"fmt"
	"io"
	"strings"
)

// show prints lines that stay, and on a terminal what is going on below them. The
// cursor stays where the latter begins: when the terminal gets narrower, it breaks
// lines anew above the cursor and below, and nobody knows how many there are then.
func (v *runView) show(lines []string) {
	var b strings.Builder
	if v.live && v.drawn {
		b.WriteString("\r\x1b[J") // from where they begin, also behind what was typed
		v.drawn = false
	}
	for _, line := range lines {
		if v.live {
			line = strings.Join(wrapped(line, v.size().columns), "\n")
		}
		b.WriteString(line + "\n")
	}
	if v.live && v.stage != "" {
		v.drawn = true
		current := v.current()
		b.WriteString(strings.Join(current, "\n") + "\r")
		if up := len(current) - 1; up > 0 {
			fmt.Fprintf(&b, "\x1b[%dA", up)
		}
	}
	if b.Len() > 0 {
		_, _ = io.WriteString(v.out, b.String()) // there is no other output
	}
}

// current are the lines about what is going on, as many as the terminal has room for.
func (v *runView) current() []string {
	head := v.stage
	if v.steps > 0 {
		head += fmt.Sprintf(" %d/%d", v.ended, v.steps)
	}
	head += ", " + v.since(v.begun)
	if left := v.left(); left >= 0 {
		head += fmt.Sprintf(", %d requests left", left)
	}
	on := v.size()
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
			lines = append(lines, folded(line, on.columns)...)
			continue
		}
		lines = append(lines, line)
	}
	if on.rows > 0 && len(lines) > on.rows {
		lines = lines[:on.rows] // what is scrolled away cannot be replaced
	}
	for i, line := range lines {
		lines[i] = fit(line, on.columns)
	}
	return lines
}
