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

// boundAfter is a bound that is reached when it was asked for a number of times.
func boundAfter(times int) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		inner, end := context.WithCancelCause(ctx)
		return &countdown{Context: inner, end: end, left: times, why: errors.New("take more than 1 GiB of memory")}, func() { end(nil) }
	}
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
	engine := Engine{Repository: looping, Kubernetes: "1.37.1", Bound: boundAfter(1000)}
	_, err := engine.Render(t.Context(), loopingAddon, nil)
	want := "a/templates/loop.yaml: the templates of the chart a take more than 1 GiB of memory"
	if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, ErrAbandoned) {
		t.Errorf("got %v", err)
	}
}

// Wherever the bound is reached, there is an error or all of the chart: never
// a chart without its objects. One that asks for the time runs twice.
func TestBoundAnywhere(t *testing.T) {
	for name, first := range map[string]string{"once": "", "twice": "{{ $now := now }}"} {
		repository := fstest.MapFS{
			"a/Chart.yaml":           {Data: []byte(chartYAML)},
			"a/templates/first.yaml": {Data: []byte(first + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")},
		}
		bounded, whole := 0, 0
		for left := 1; left <= 20; left++ {
			engine := Engine{Repository: repository, Kubernetes: "1.37.1", Bound: boundAfter(left)}
			result, err := engine.Render(t.Context(), loopingAddon, nil)
			switch {
			case errors.Is(err, ErrAbandoned):
				bounded++
			case err != nil || len(result.Objects) != 1:
				t.Errorf("%s, %d: %v %v", name, left, result.Objects, err)
			default:
				whole++
			}
		}
		if bounded == 0 || whole == 0 {
			t.Errorf("%s: %d are bounded, %d are whole", name, bounded, whole)
		}
	}
}

// The template is named that does not end at another time.
func TestBoundLater(t *testing.T) {
	repository := fstest.MapFS{
		"a/Chart.yaml":             {Data: []byte(chartYAML)},
		"a/templates/later.yaml":   {Data: []byte("{{ if gt (now).Unix 1500000000 }}{{ range $i := 1000000000000000 }}{{ include \"a/templates/nothing.yaml\" $ }}{{ end }}{{ end }}")},
		"a/templates/nothing.yaml": looping["a/templates/nothing.yaml"],
	}
	engine := Engine{Repository: repository, Kubernetes: "1.37.1", Bound: boundAfter(1000)}
	if _, err := engine.Render(t.Context(), loopingAddon, nil); err == nil || !strings.HasPrefix(err.Error(), "a/templates/later.yaml: ") {
		t.Errorf("got %v", err)
	}
}

// Of a chart that is there by two aliases, the one is named that does not end.
func TestBoundOfAlias(t *testing.T) {
	const twice = `apiVersion: v2
name: a
version: 1.0.0
dependencies:
- {name: sub, alias: one, version: 1.0.0}
- {name: sub, alias: two, version: 1.0.0}
`
	repository := fstest.MapFS{
		"a/Chart.yaml":                       {Data: []byte(twice)},
		"a/values.yaml":                      {Data: []byte("one: {turns: 1}\ntwo: {turns: 1000000000000000}\n")},
		"a/charts/sub/Chart.yaml":            {Data: []byte("apiVersion: v2\nname: sub\nversion: 1.0.0\n")},
		"a/charts/sub/templates/loop.yaml":   {Data: []byte("{{ range $i := int .Values.turns }}{{ include (print $.Template.BasePath \"/none.yaml\") $ }}{{ end }}")},
		"a/charts/sub/templates/none.yaml":   {Data: []byte("{{/* nothing */}}")},
		"a/charts/sub/templates/_helper.tpl": {Data: []byte("{{/* nothing */}}")},
	}
	engine := Engine{Repository: repository, Kubernetes: "1.37.1", Bound: boundAfter(1000)}
	if _, err := engine.Render(t.Context(), loopingAddon, nil); err == nil || !strings.HasPrefix(err.Error(), "a/charts/two/templates/loop.yaml: ") {
		t.Errorf("got %v", err)
	}
}

// A panic reaches the caller, who knows what must not be printed of it.
func TestBoundPanics(t *testing.T) {
	defer func() {
		if p := recover(); p != "a secret" {
			t.Errorf("got %v", p)
		}
	}()
	ctx := t.Context()
	_, _, err := (&chart{}).bounded(ctx, &running{ctx: ctx}, func() (map[string]string, error) { panic("a secret") })
	t.Errorf("no panic, but %v", err)
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
