package addon

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	helm "helm.sh/helm/v4/pkg/engine"

	"github.com/talosgen/talosgen/internal/diag"
)

// maxRendered is what the templates of a chart may write together.
const maxRendered = 64 << 20

// instants are what templates are told in turn that the time is.
var instants = []time.Time{time.Unix(1e9, 0).UTC(), time.Unix(2e9, 1).UTC()}

// execute runs the templates of the chart. The result is by the path that Helm
// gives each file, as in cilium/templates/cilium-agent/daemonset.yaml.
//
// Charts ask for the time to check durations, too, and write nothing of it: one
// that asks is run again at another time, and refused if that changes anything.
func (c *chart) execute(ctx context.Context, values common.Values) (map[string]string, error) {
	announced(c.Chart)
	copied := func() common.Values {
		all := maps.Clone(values)
		if own, ok := plain(values["Values"]).(map[string]any); ok { // templates change values
			all["Values"] = common.Values(own) // with its methods, which templates call
		}
		return all
	}
	texts, asked, err := c.executeAt(ctx, copied(), &instants[0])
	if err != nil || !asked {
		return texts, err
	}
	later, _, err := c.executeAt(ctx, copied(), &instants[1])
	if errors.Is(err, ErrAbandoned) {
		return nil, err
	}
	if err != nil || !maps.Equal(texts, later) {
		_, _, err = c.executeAt(ctx, copied(), nil) // for the place
		if err == nil {
			err = c.fail("writes something else each time, by the function now")
		}
		return nil, err
	}
	return texts, nil
}

// executeAt runs the templates at a time, and tells whether they asked for it;
// without one, asking is an error.
func (c *chart) executeAt(ctx context.Context, values common.Values, now *time.Time) (texts map[string]string, askedTime bool, err error) {
	var refused *refusal
	asked := false
	at := &running{ctx: ctx}
	functions := functions(func(r *refusal) { refused = r })
	functions[enterFunction], functions[leaveFunction] = at.enter, at.leave
	if now != nil {
		functions["now"] = func() time.Time { asked = true; return *now }
	}
	e := helm.Engine{CustomTemplateFuncs: functions}
	texts, left, err := c.bounded(ctx, at, func() (map[string]string, error) { return e.RenderWithContext(ctx, c.Chart, values) })
	switch {
	case left:
		return nil, false, err // what is left behind may still write to the others
	case err != nil:
		return nil, asked, c.templateProblem(err, refused)
	}
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	if size > maxRendered {
		return nil, asked, c.fail("has templates that write more than %d MiB", maxRendered>>20)
	}
	return texts, asked, nil
}

var (
	// templatePlace is file:line or file:line:column.
	templatePlace = regexp.MustCompile(`([^\s:()"]+/[^\s:()"]+):(\d+)(?::(\d+))?`)
	// templateAction is the part of the template that failed.
	templateAction = regexp.MustCompile(`(?m)executing ".*" at <(.*)>:?$`)
	// templateFunction is what text/template puts before the error of a function,
	// where Helm leaves it in one line.
	templateFunction = regexp.MustCompile(`^template: \S+: executing "[^"]*" at <(.*)>: (error calling \w+: )`)
	// templateCall is what text/template and Helm put around the error of a
	// function.
	templateCall = regexp.MustCompile(`^(?:execution error at \([^)]*\): |parse error at \([^)]*\): |error calling \w+: )+`)
)

// templateProblem gives an error of the engine, which is text, its place: the
// innermost of those in it.
func (c *chart) templateProblem(err error, refused *refusal) *diag.Problem {
	text := strings.TrimSpace(err.Error())
	pos := diag.Pos{File: c.source}
	for _, match := range templatePlace.FindAllStringSubmatch(text, -1) {
		if !c.hasFile(match[1]) {
			continue
		}
		pos.File = c.place(match[1])
		pos.Line, _ = strconv.Atoi(match[2])
		pos.Column, _ = strconv.Atoi(match[3])
		if before := len(enterText(match[1])); pos.Line == 1 && pos.Column > before && !isPartial(match[1]) {
			pos.Column -= before
		}
	}
	if refused != nil {
		return diag.New(pos, "the chart %s calls %v", c.Name(), refused).WithCause(err).
			WithHint("set values with which the chart does without it, such as the name of a Secret of your own; `helm show values` tells which there are")
	}
	lines := strings.Split(text, "\n")
	lines[len(lines)-1] = templateFunction.ReplaceAllString(lines[len(lines)-1], "$1: ")
	message := templateCall.ReplaceAllString(strings.TrimSpace(lines[len(lines)-1]), "")
	if at := templateAction.FindAllStringSubmatch(text, -1); at != nil {
		message = at[len(at)-1][1] + ": " + message
	}
	return diag.New(pos, "the chart %s cannot be rendered: %s", c.Name(), message).WithCause(err)
}

// hasFile tells whether a text is the path of a template.
func (c *chart) hasFile(name string) bool {
	return strings.HasPrefix(name, c.Name()+"/") && strings.Contains(name, "/templates/")
}
