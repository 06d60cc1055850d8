package addon

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/talosgen/talosgen/render/internal/catalogue"
)

// countdown is a context that ends, for a reason, when it has been asked a
// number of times whether it has.
type countdown struct {
	context.Context
	end  context.CancelCauseFunc
	mu   sync.Mutex
	left int
	why  error
}

// Err counts.
func (c *countdown) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left == 0 {
		c.end(c.why)
	}
	return c.Context.Err()
}

// looping is a chart with a template that goes on for a year.
var looping = fstest.MapFS{
	"a/Chart.yaml":            {Data: []byte(chartYAML)},
	"a/templates/_helper.tpl": {Data: []byte("{{ define \"a.name\" }}a{{ end }}")},
	"a/templates/first.yaml":  {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ include \"a.name\" . }}}\n")},
	"a/templates/loop.yaml":   {Data: []byte("{{ range $i := 1000000000000000 }}{{ include \"a/templates/nothing.yaml\" $ }}{{ end }}")},
	// It is asked for each time, and stops the loop after the test.
	"a/templates/nothing.yaml": {Data: []byte("{{/* nothing */}}")},
}

var loopingAddon = catalogue.Addon{Name: "a", Source: &catalogue.Source{Chart: &catalogue.Chart{Path: "a"}}}

// A template that does not end is left behind when the bound is reached; the
// error names it, and what it took.
func TestBound(t *testing.T) {
	engine := Engine{Repository: looping, Kubernetes: "1.37.1", Bound: func(ctx context.Context) (context.Context, context.CancelFunc) {
		inner, end := context.WithCancelCause(ctx)
		return &countdown{Context: inner, end: end, left: 1000, why: errors.New("take more than 1 GiB of memory")}, func() { end(nil) }
	}}
	_, err := engine.Render(t.Context(), loopingAddon, nil)
	want := "a/templates/loop.yaml: the templates of the chart a take more than 1 GiB of memory"
	if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, ErrAbandoned) {
		t.Errorf("got %v", err)
	}
}

// Whoever stops the program is not told of it by the chart.
func TestInterruptedTemplates(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	engine := Engine{Repository: looping, Kubernetes: "1.37.1"}
	if _, err := engine.Render(ctx, loopingAddon, nil); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// A bound that is not reached changes nothing, and ends with the chart.
func TestBoundNotReached(t *testing.T) {
	repository := fstest.MapFS{
		"a/Chart.yaml": looping["a/Chart.yaml"], "a/templates/first.yaml": looping["a/templates/first.yaml"],
		"a/templates/_helper.tpl": looping["a/templates/_helper.tpl"],
	}
	ended := false
	engine := Engine{Repository: repository, Kubernetes: "1.37.1", Bound: func(ctx context.Context) (context.Context, context.CancelFunc) {
		return ctx, func() { ended = true }
	}}
	result, err := engine.Render(t.Context(), loopingAddon, nil)
	if err != nil || len(result.Objects) != 1 || !ended {
		t.Errorf("got %v %v, ended: %v", result.Objects, err, ended)
	}
}
