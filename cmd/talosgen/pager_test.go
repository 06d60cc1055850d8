package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestPager: a text that is longer than the terminal goes to the pager that somebody
// wants, and to the terminal if there is none, or it fails.
func TestPager(t *testing.T) {
	long, short := strings.Repeat("+ server/a\n", 30), "nothing to do\n"
	for _, c := range []struct {
		name, text string
		vars       map[string]string
		fails      bool
		piped      bool // stdout is no terminal
		want       string
	}{
		{name: "less", text: long, want: "/bin/less"},
		{name: "short", text: short},
		{name: "own", text: long, vars: map[string]string{"TALOSGEN_PAGER": "more -s", "PAGER": "most"}, want: "/bin/more -s"},
		{name: "common", text: long, vars: map[string]string{"PAGER": "most"}, want: "/bin/most"},
		{name: "none", text: long, vars: map[string]string{"PAGER": ""}},
		{name: "cat", text: long, vars: map[string]string{"TALOSGEN_PAGER": "cat", "PAGER": "most"}},
		{name: "missing", text: long, vars: map[string]string{"PAGER": "nopager"}},
		{name: "fails", text: long, fails: true, want: "/bin/less"},
		{name: "piped", text: long, piped: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout bytes.Buffer
			ran, shown := "", ""
			o := &console{stdout: &stdout, shows: !c.piped, page: func() size { return size{80, 24} }, pager: pager{
				vars: func(name string) (string, bool) { v, ok := c.vars[name]; return v, ok },
				find: func(name string) (string, error) {
					if name == "nopager" {
						return "", errors.New("not found")
					}
					return "/bin/" + name, nil
				},
				show: func(program []string, text io.Reader) error {
					ran = strings.Join(program, " ")
					if c.fails {
						return errors.New("killed")
					}
					all, err := io.ReadAll(text)
					shown = string(all)
					return err
				},
			}}
			if err := o.printText(c.text); err != nil {
				t.Fatal(err)
			}
			if shown += stdout.String(); ran != c.want || shown != c.text {
				t.Errorf("%q ran, want %q; shown is %q", ran, c.want, shown)
			}
		})
	}
}
