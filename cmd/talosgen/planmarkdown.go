package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/comment"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/printable"
	"github.com/talosgen/talosgen/schemas"
)

// asMarkdown is the format of what a pipeline says on a pull request or in an issue.
const asMarkdown = "markdown"

// notCompared is the result of a command that has nothing to compare without a key.
const notCompared = "not compared"

// section notes a text that is told of the environment in Markdown.
func (o *outcome) section(title, text string) {
	o.sections = append(o.sections, comment.Section{Name: o.Env, Title: title, Text: printable.Text(text)})
}

// planTitle sums a plan up in a line.
func planTitle(env *apply.Environment, p *apply.Plan) string {
	title := p.Counts().Line()
	if p.Empty() && !p.Refused() {
		title = "nothing to do"
	}
	if env.Keyless() {
		title += " (without nodes and Kubernetes)"
	}
	return title
}

// foundSince notes what became of the rendered tree since the commit of --since.
func (k clusters) foundSince(c *cli.Context, env string) error {
	if !c.IsSet(flagSince) {
		return nil
	}
	repo, err := k.ws.open(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	changes, err := sinceOf(c, repo.Root(), env).changes(c.Context)
	if err != nil || len(changes) == 0 {
		return err
	}
	k.found.section(fmt.Sprintf("%s in rendered/%s since %s", natural.Count(len(changes), "change"), env, c.String(flagSince)), changesText(changes))
	return nil
}

// errNothingToCompare says that of an environment without infrastructure nothing can be
// compared without a key. It is no mistake of who named several.
var errNothingToCompare = errors.New("nothing to compare without a key")

// comparable reports whether an environment of several can be compared without a key.
func (k clusters) comparable(env *apply.Environment) error {
	if k.found == nil || !env.Keyless() || env.Infrastructure.Provider == schemas.Hetzner {
		return nil
	}
	k.found.done = notCompared
	return errNothingToCompare
}

// outcomesMarkdown is what a command found of several environments, for a comment.
func outcomesMarkdown(command string, outcomes []outcome) string {
	d := comment.Document{Title: "talosgen " + command, Head: outcomeHead()}
	for i := range outcomes {
		o := &outcomes[i]
		d.Rows = append(d.Rows, o.row())
		if len(o.Problems) > 0 {
			d.Sections = append(d.Sections, comment.Section{Name: o.Env, Title: natural.Count(len(o.Problems), "problem"), Text: strings.Join(o.Problems, "\n"), Open: true})
		}
		d.Sections = append(d.Sections, o.sections...)
	}
	return d.Write(comment.Limit)
}

// errMarkdown says that the environments have to be named.
func errMarkdown(c *cli.Context) error {
	return diag.On("--"+flagOutput, "%s is about environments that --%s or --%s names, with a table of them", asMarkdown, flagAll, flagEnv).
		WithHint("--%s %s", flagEnv, c.Args().First()).WithCode(diag.Usage)
}
