package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Variables that name the pager. Without them it is less, where there is one; an empty
// one, or cat, is none.
const (
	pagerVariable       = "TALOSGEN_PAGER"
	commonPagerVariable = "PAGER"
)

// pager shows a text that is longer than the terminal that stdout is.
type pager struct {
	vars environ
	// find finds a program, as [exec.LookPath] does; nil: there are none.
	find func(name string) (string, error)
	// show runs a program with a text, until it ends.
	show func(program []string, text io.Reader) error
}

// systemPager runs pagers as children, with nothing secret in their environment.
func systemPager(vars environ, o *console) pager {
	return pager{vars: vars, find: exec.LookPath, show: func(program []string, text io.Reader) error {
		cmd := exec.Command(program[0], program[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = text, o.stdout, os.Stderr
		cmd.Env = childEnvironment(os.Environ(), o.isSecret)
		if vars.get("LESS") == "" {
			cmd.Env = append(cmd.Env, "LESS=FRX") // end at once if it fits, show colours, leave the screen
		}
		return cmd.Run()
	}}
}

// command is the pager that somebody wants; none if it is empty.
func (p pager) command() []string {
	for _, variable := range []string{pagerVariable, commonPagerVariable} {
		if text, set := p.vars(variable); set {
			if text = strings.TrimSpace(text); text == "cat" {
				text = ""
			}
			return strings.Fields(text)
		}
	}
	return []string{"less"}
}

// paged shows a text in a pager, if it is longer than the terminal, and reports whether it
// was shown.
func (o *console) paged(text []byte) bool {
	return o.shows && o.pager.find != nil && exceeds(text, o.page()) && o.pager.page(text)
}

// page shows a text in a pager, and reports whether it was shown.
func (p pager) page(text []byte) bool {
	program := p.command()
	if len(program) == 0 {
		return false
	}
	path, err := p.find(program[0])
	if err != nil {
		return false
	}
	program = append([]string{path}, program[1:]...)
	return p.show(program, bytes.NewReader(text)) == nil
}

// exceeds reports whether a text has more lines than a terminal of this size, of which the
// last is for the prompt.
func exceeds(text []byte, on size) bool {
	return on.rows > 0 && bytes.Count(text, []byte("\n")) >= on.rows
}
