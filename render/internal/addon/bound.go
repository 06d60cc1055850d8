package addon

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/talosgen/talosgen/internal/diag"
)

// ErrAbandoned tells that templates still run: nothing stops a template that
// calls no function. Whoever gets it had better end the program.
var ErrAbandoned = errors.New("templates were abandoned while they ran")

// The functions that tell which template runs. They stand before and behind the
// text of each, so its lines stay what they are.
const (
	enterFunction = "talosgenEnter"
	leaveFunction = "talosgenLeave"
)

// running knows which templates run, the innermost last.
type running struct {
	ctx   context.Context
	mu    sync.Mutex
	files []string
}

// enter is called by a template with its path; it stops those that were
// abandoned.
func (r *running) enter(file string) (string, error) {
	if err := r.ctx.Err(); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = append(r.files, file)
	return "", nil
}

// leave is called at the end of a template.
func (r *running) leave() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = r.files[:max(len(r.files)-1, 0)]
	return ""
}

// innermost is the path of the template that runs; empty if there is none.
func (r *running) innermost() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.files) == 0 {
		return ""
	}
	return r.files[len(r.files)-1]
}

// announced makes the templates of a chart tell when they run. Those that only
// others call, by what they define, do not. A chart that is there by several
// aliases has the same templates in each, so they are not changed in place.
func announced(c *chartv2.Chart) {
	c.Templates = slices.Clone(c.Templates)
	for i, t := range c.Templates {
		if t != nil && !isPartial(t.Name) {
			reports := *t
			reports.Data = []byte(enterText(path.Join(c.ChartFullPath(), t.Name)) + string(t.Data) + "{{" + leaveFunction + "}}")
			c.Templates[i] = &reports
		}
	}
	for _, sub := range c.Dependencies() {
		announced(sub)
	}
}

// enterText is what stands before a template.
func enterText(file string) string { return fmt.Sprintf("{{%s %q}}", enterFunction, file) }

func isPartial(name string) bool { return strings.HasPrefix(path.Base(name), "_") }

// bounded runs work until it is done or the bound is reached, whichever comes
// first. Then it is left behind, with an error, and may still write to what it
// knows of.
func (c *chart) bounded(ctx context.Context, r *running, work func() (map[string]string, error)) (texts map[string]string, left bool, err error) {
	type outcome struct {
		texts map[string]string
		err   error
		panic any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() { o.panic = recover(); done <- o }()
		o.texts, o.err = work()
	}()
	select {
	case o := <-done:
		if o.panic != nil {
			panic(o.panic) // for whoever masks what a panic prints
		}
		if ctx.Err() == nil {
			return o.texts, false, o.err
		}
	case <-ctx.Done():
	}
	return nil, true, c.abandoned(ctx, r.innermost())
}

// abandoned says why templates were left behind, and which.
func (c *chart) abandoned(ctx context.Context, file string) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.Canceled) {
		return cause // whoever runs the program stopped it
	}
	pos := diag.Pos{File: c.source}
	if file != "" {
		pos.File = c.place(file)
	}
	return diag.New(pos, "the templates of the chart %s %v", c.Name(), cause).
		WithHint("a loop that does not end is likely; look at this template and at those that it includes").
		WithCause(fmt.Errorf("%w: %w", ErrAbandoned, cause))
}
