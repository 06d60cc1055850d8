package addon

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	helm "helm.sh/helm/v4/pkg/engine"

	"github.com/talosgen/talosgen/internal/diag"
)

// maxRendered is what the templates of a chart may write together.
const maxRendered = 64 << 20

// maxTries is how many calls are looked at to find the one that is to blame.
const maxTries = 50

// conditions are what templates find when they ask for it.
type conditions struct {
	other  func(call int) bool // whether a call that asks for what changes gets another answer
	refuse int                 // which such call is an error
	found  map[string]any      // the data of whatever they ask the cluster for; nil: it is not there
}

// output is what templates wrote: by the path that Helm gives each file, as in
// cilium/templates/cilium-agent/daemonset.yaml; and what they asked for.
type output struct {
	texts   map[string]string
	calls   int // calls of what gives something else each time
	lookups []lookup
}

// execute runs the templates of the chart, with nothing in the cluster. Those that
// ask for the time or for random values are run again, with other ones, and refused
// if that changes anything.
func (c *chart) execute(ctx context.Context, values common.Values) (output, error) {
	out, err := c.executeAt(ctx, values, conditions{})
	if err != nil || out.calls == 0 {
		return out, err
	}
	other, err := c.executeAt(ctx, values, conditions{other: func(int) bool { return true }})
	if errors.Is(err, ErrAbandoned) {
		return output{}, err
	}
	if err != nil || !maps.Equal(out.texts, other.texts) {
		return output{}, c.blame(ctx, values, out)
	}
	return out, nil
}

// blame is the error of the first call that changes what templates write.
func (c *chart) blame(ctx context.Context, values common.Values, out output) error {
	call := 1
	for try := 1; try <= min(out.calls, maxTries); try++ {
		other, err := c.executeAt(ctx, values, conditions{other: func(n int) bool { return n == try }})
		if errors.Is(err, ErrAbandoned) {
			return err
		}
		if err != nil || !maps.Equal(out.texts, other.texts) {
			call = try
			break
		}
	}
	_, err := c.executeAt(ctx, values, conditions{refuse: call})
	if err == nil {
		err = c.fail("writes something else each time, by random values or the time")
	}
	return err
}

// executeAt runs the templates once.
func (c *chart) executeAt(ctx context.Context, values common.Values, given conditions) (out output, err error) {
	all := maps.Clone(values)
	if own, ok := plain(values["Values"]).(map[string]any); ok { // templates change values
		all["Values"] = common.Values(own) // with its methods, which templates call
	}
	var refused *refusal
	report := func(r *refusal) { refused = r }
	at := &running{ctx: ctx}
	cluster := &lookups{found: given.found, file: at.innermost}
	random := &jitter{other: given.other, refuse: given.refuse, report: report}
	functions := functions(report)
	functions[enterFunction], functions[leaveFunction] = at.enter, at.leave
	maps.Copy(functions, cluster.functions())
	maps.Copy(functions, random.functions())
	e := helm.Engine{CustomTemplateFuncs: functions}
	texts, left, err := c.bounded(ctx, at, func() (map[string]string, error) { return e.RenderWithContext(ctx, c.Chart, all) })
	switch {
	case left:
		return output{}, err // what is left behind may still write to the others
	case err != nil:
		return output{}, c.templateProblem(err, refused)
	}
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	if size > maxRendered {
		return output{}, c.fail("has templates that write more than %d MiB", maxRendered>>20)
	}
	return output{texts, random.calls, cluster.asked}, nil
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

// maxMessage is how much is said of an error: what stands at its end says what it is.
const maxMessage = 1000

// templateProblem gives an error of the engine, which is text, its place: the
// innermost of those in it.
func (c *chart) templateProblem(err error, refused *refusal) *diag.Problem {
	text := strings.TrimSpace(err.Error())
	pos := diag.Pos{File: c.source}
	var keys []string
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
		if refused != nil {
			// The inner template knows best, if it reads values at all.
			if near := c.valuesNear(match[1], pos.Line, refused.function); len(near) > 0 {
				keys = near
			} else if near = c.valuesNear(match[1], pos.Line, ""); len(near) > 0 {
				keys = near
			}
		}
	}
	if refused != nil {
		return diag.New(pos, "the chart %s calls %v", c.Name(), refused).WithCause(err).WithHint("%s", hintOfRefusal(keys))
	}
	lines := strings.Split(text, "\n")
	lines[len(lines)-1] = templateFunction.ReplaceAllString(lines[len(lines)-1], "$1: ")
	message := templateCall.ReplaceAllString(strings.TrimSpace(lines[len(lines)-1]), "")
	if at := templateAction.FindAllStringSubmatch(text, -1); at != nil {
		message = at[len(at)-1][1] + ": " + message
	}
	if len(message) > maxMessage { // helpers that call each other
		message = "… " + strings.ToValidUTF8(message[len(message)-maxMessage:], "")
	}
	return diag.New(pos, "the chart %s cannot be rendered: %s", c.Name(), message).WithCause(err)
}

// hintOfRefusal says what to do where a chart calls what is refused; keys are the
// values that it looks at there.
func hintOfRefusal(keys []string) string {
	if len(keys) == 0 {
		return "set values with which the chart does without it, such as the name of a Secret of your own; `helm show values` tells which there are"
	}
	return "set values with which the chart does without it; it looks at " + strings.Join(keys, ", ")
}

// hasFile tells whether a text is the path of a template.
func (c *chart) hasFile(name string) bool {
	return strings.HasPrefix(name, c.Name()+"/") && strings.Contains(name, "/templates/")
}
