package addon

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	helm "helm.sh/helm/v4/pkg/engine"

	"github.com/talosgen/talosgen/internal/diag"
)

// maxRendered is what the templates of a chart may write together.
const maxRendered = 64 << 20

// execute runs the templates of the chart. The result is by the path that Helm
// gives each file, as in cilium/templates/cilium-agent/daemonset.yaml.
func (c *chart) execute(ctx context.Context, values common.Values) (map[string]string, error) {
	var refused *refusal
	e := helm.Engine{CustomTemplateFuncs: functions(func(r *refusal) { refused = r })}
	texts, err := e.RenderWithContext(ctx, c.Chart, values)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, c.templateProblem(err, refused)
	}
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	if size > maxRendered {
		return nil, c.fail("has templates that write more than %d MiB", maxRendered>>20)
	}
	return texts, nil
}

var (
	// templatePlace is file:line or file:line:column.
	templatePlace = regexp.MustCompile(`([^\s:()"]+/[^\s:()"]+):(\d+)(?::(\d+))?`)
	// templateAction is the part of the template that failed.
	templateAction = regexp.MustCompile(`(?m)executing ".*" at <(.*)>:?$`)
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
	}
	if refused != nil {
		return diag.New(pos, "the chart %s calls %v", c.Name(), refused).WithCause(err).
			WithHint("set values with which the chart does without it, such as the name of a Secret of your own; `helm show values` tells which there are")
	}
	lines := strings.Split(text, "\n")
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
