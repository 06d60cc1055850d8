package execute_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
)

// changes parses "a b<a c<a,b": the names of changes, and what they need.
func changes(text string) (out []cloudplan.Change) {
	for word := range strings.FieldsSeq(text) {
		name, needs, _ := strings.Cut(word, "<")
		c := cloudplan.Change{Key: plan.Key(name), Action: cloudplan.Update, Class: cloudplan.InPlace, Allowed: true}
		for need := range strings.SplitSeq(needs, ",") {
			if need != "" {
				c.Needs = append(c.Needs, plan.Key(need))
			}
		}
		out = append(out, c)
	}
	return out
}

var states = map[execute.State]string{execute.Started: "…", execute.Done: "+", execute.Failed: "!", execute.Skipped: "-"}

// TestOrder: what runs in which order, one change at a time. A change whose name
// ends in ! fails, one that ends in ? is refused by the token.
func TestOrder(t *testing.T) {
	for _, tt := range []struct{ name, changes, want, err string }{
		{"nothing", "", "", ""},
		{"as planned", "a b c", "a… a+ b… b+ c… c+", ""},
		{"needs first", "a<c b c", "b… b+ c… c+ a… a+", ""},
		{"a need that is not in the plan", "a<x", "a… a+", ""},
		{"others go on after a failure", "a! b<a! c<b d", "a!… a!! b- c- d… d+", "a! failed"},
		{"what needs it may come before", "c<b b<a! a! d", "a!… a!! b- c- d… d+", "a! failed"},
		{"all errors", "a! b! c", "a!… a!! b!… b!! c… c+", "a! failed\nb! failed\n2 problems"},
		{"no further with a bad token", "a? b c", "a?… a?! b- c-", "a? failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var events []string
			err := execute.Run(t.Context(), changes(tt.changes), func(_ context.Context, c cloudplan.Change) error {
				switch {
				case strings.HasSuffix(string(c.Key), "!"):
					return diag.On("", "%s failed", c.Key).WithCode(diag.Remote)
				case strings.HasSuffix(string(c.Key), "?"):
					return diag.On("", "%s failed", c.Key).WithCode(diag.Secrets)
				}
				return nil
			}, execute.Options[cloudplan.Change]{Report: func(e execute.Event[cloudplan.Change]) {
				events = append(events, string(e.Step.Key)+states[e.State])
			}})
			if got := strings.Join(events, " "); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
			if got := fmt.Sprint(err); err == nil && tt.err != "" || err != nil && got != tt.err {
				t.Errorf("error %q, want %q", got, tt.err)
			}
		})
	}
}

// TestParallel: as many changes as allowed run at once, never more, and none
// before what it needs.
func TestParallel(t *testing.T) {
	var mu sync.Mutex
	running, most := 0, 0
	done := map[plan.Key]bool{}
	var text []string
	for i := range 30 {
		text = append(text, fmt.Sprintf("a%d b%d<a%d", i, i, i))
	}
	full := make(chan struct{}) // closed when four run at once
	err := execute.Run(t.Context(), changes(strings.Join(text, " ")), func(_ context.Context, c cloudplan.Change) error {
		mu.Lock()
		running++
		if most = max(most, running); most == 4 && full != nil {
			close(full)
			full = nil
		}
		for _, need := range c.Needs {
			if !done[need] {
				t.Errorf("%s before %s", c.Key, need)
			}
		}
		wait := full
		mu.Unlock()
		if wait != nil {
			<-wait
		}
		mu.Lock()
		defer mu.Unlock()
		running--
		done[c.Key] = true
		return nil
	}, execute.Options[cloudplan.Change]{Parallel: 4})
	if err != nil || most != 4 || len(done) != 60 {
		t.Errorf("%d at once, %d done, %v", most, len(done), err)
	}
}

// TestInterruptedRun: what runs is waited for, nothing new begins.
func TestInterruptedRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var events []string
	err := execute.Run(ctx, changes("a b"), func(context.Context, cloudplan.Change) error {
		cancel()
		return nil
	}, execute.Options[cloudplan.Change]{Report: func(e execute.Event[cloudplan.Change]) { events = append(events, string(e.Step.Key)+states[e.State]) }})
	if got, want := strings.Join(events, " "), "a… a+ b-"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if !errors.Is(err, context.Canceled) || diag.CodeOf(err) != diag.Interrupted {
		t.Errorf("error %v", err)
	}
}

var errStale = errors.New("stale")

// TestConverge is about rounds: what each plan holds, which changes fail, and
// how the run ends. In a round, a change with ~ fails as stale, one with ! for
// good.
func TestConverge(t *testing.T) {
	destructive := func(c *cloudplan.Change) { c.Action, c.Destructive = cloudplan.Delete, true }
	off := func(c *cloudplan.Change) { c.Class = cloudplan.PowerOff }
	for _, tt := range []struct {
		name   string
		plans  []string
		change func(*cloudplan.Change) // of the changes after the first plan
		want   string                  // what was done, and the pauses
		err    string
	}{
		{"nothing to do", []string{""}, nil, "", ""},
		{"done", []string{"a b", ""}, nil, "a b", ""},
		{"late", []string{"a", "b", ""}, nil, "a b", ""},
		{"an answer was lost", []string{"a~ b", "a", ""}, nil, "a~ b 5s a", ""},
		{"lost, but it had its effect", []string{"a~ b<a~", "b", ""}, nil, "a~ 5s b", ""},
		{"lost twice", []string{"a~", "b~", "a", ""}, nil, "a~ 5s b~ 10s a", ""},
		{"the same error twice", []string{"a~", "a~", "a", ""}, nil, "a~ 5s a~ 10s a", ""},
		{"the same error again", []string{"a~", "a~", "a~", "a~", ""}, nil, "a~ 5s a~ 10s a~ 15s a~", "a~ failed"},
		{"failed for good", []string{"a! b", ""}, nil, "a! b", "a! failed"},
		{"no effect", []string{"a", "a"}, nil, "a 2s 4s 8s 16s 32s a", "verify: changes have no effect, as far as can be read: update a"},
		{"no effect after a lost answer", []string{"a~", "a", "a"}, nil, "a~ 5s a 2s 4s 8s 16s 32s a", "verify: changes have no effect, as far as can be read: update a"},
		{"what is read lags behind", []string{"a", "a", "a", ""}, nil, "a 2s 4s", ""},
		{"it never ends", []string{"a", "b", "a", "b", "a", "b", "a", "b", "a", "b", "a"}, nil, "a b a b a b a b a b", "after 10 rounds"},
		{"destruction that nobody agreed to", []string{"a", "b"}, destructive, "a", "b: to delete it was not agreed to"},
		{"power-off that nobody agreed to", []string{"a", "b"}, off, "a", "b: to update it was not agreed to"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log []string
			round := 0
			next := func() *cloudplan.Plan {
				round = min(round, len(tt.plans)-1) // the last one stays
				p := &cloudplan.Plan{Changes: changes(strings.ReplaceAll(tt.plans[round], "~", ""))}
				for i, word := range strings.Fields(tt.plans[round]) {
					name, _, _ := strings.Cut(word, "<")
					p.Changes[i].Reason = name
					if round > 0 && tt.change != nil {
						tt.change(&p.Changes[i])
					}
				}
				round++
				return p
			}
			first := next()
			loop := execute.Infrastructure(first)
			loop.Again = func(context.Context) (*cloudplan.Plan, error) { return next(), nil }
			loop.Executor = func(*cloudplan.Plan) execute.Do[cloudplan.Change] {
				return func(_ context.Context, c cloudplan.Change) error {
					log = append(log, c.Reason)
					switch {
					case strings.HasSuffix(c.Reason, "~"):
						return diag.On("", "%s failed", c.Reason).WithCode(diag.Remote).WithCause(errStale)
					case strings.HasSuffix(c.Reason, "!"):
						return diag.On("", "%s failed", c.Reason).WithCode(diag.Remote)
					}
					return nil
				}
			}
			loop.Stale = func(err error) bool { return errors.Is(err, errStale) }
			loop.Sleep = func(_ context.Context, d time.Duration) error { log = append(log, d.String()); return nil }
			last, err := loop.Converge(t.Context(), first, execute.Options[cloudplan.Change]{})
			if got := strings.Join(log, " "); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
			if tt.err == "" && (err != nil || len(last.Changes) > 0) || tt.err != "" && !strings.Contains(fmt.Sprint(err), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

// TestConvergeInterrupted: a run that is interrupted while an answer is lost says
// both, and ends as interrupted.
func TestConvergeInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	loop := again(nil)
	loop.Executor = func(*cloudplan.Plan) execute.Do[cloudplan.Change] {
		return func(context.Context, cloudplan.Change) error {
			interrupt()
			return diag.On("a", "lost").WithCode(diag.Remote).WithCause(errStale)
		}
	}
	loop.Stale = func(err error) bool { return errors.Is(err, errStale) }
	loop.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	_, err := loop.Converge(ctx, &cloudplan.Plan{Changes: changes("a")}, execute.Options[cloudplan.Change]{})
	if text := fmt.Sprint(err); diag.CodeOf(err) != diag.Interrupted || !strings.Contains(text, "apply: interrupted") || !strings.Contains(text, "a: lost") {
		t.Errorf("error (%d) %v", diag.CodeOf(err), err)
	}
}

// TestConvergeIsRefused: a plan that later rounds may not execute ends the run.
func TestConvergeIsRefused(t *testing.T) {
	_, err := again(func(context.Context) (*cloudplan.Plan, error) {
		return &cloudplan.Plan{Changes: changes("a"), Refusals: []plan.Note{{Key: "network/prod", Text: "somebody took the name", Hint: "rename it"}}}, nil
	}).Converge(t.Context(), &cloudplan.Plan{Changes: changes("a")}, execute.Options[cloudplan.Change]{})
	if diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "network/prod: somebody took the name\n  rename it") {
		t.Errorf("error %v", err)
	}
}

// TestConvergeStopsOnErrors: an observation or a plan that fails is an error,
// never an empty one.
func TestConvergeStopsOnErrors(t *testing.T) {
	no := errors.New("no")
	_, err := again(func(context.Context) (*cloudplan.Plan, error) { return nil, no }).
		Converge(t.Context(), &cloudplan.Plan{Changes: slices.Clip(changes("a"))}, execute.Options[cloudplan.Change]{})
	if !errors.Is(err, no) {
		t.Errorf("error %v", err)
	}
}

// again is a loop whose changes have no effect, and what it finds then.
func again(next func(context.Context) (*cloudplan.Plan, error)) execute.Loop[*cloudplan.Plan, cloudplan.Change] {
	loop := execute.Infrastructure(&cloudplan.Plan{Changes: changes("a")})
	loop.Executor = func(*cloudplan.Plan) execute.Do[cloudplan.Change] {
		return func(context.Context, cloudplan.Change) error { return nil }
	}
	loop.Again = next
	return loop
}

// TestNotAgreedTo: what nobody has agreed to is named, with what changes if there is
// no reason beside it.
func TestNotAgreedTo(t *testing.T) {
	loop := execute.Infrastructure(&cloudplan.Plan{})
	later := &cloudplan.Plan{Changes: []cloudplan.Change{{
		Key: "server/a", Action: cloudplan.Update, Class: cloudplan.PowerOff, Allowed: true,
		Fields: []cloudplan.Field{{Name: cloudplan.FieldType}, {Name: cloudplan.FieldReverseDNS, Item: "ipv4"}},
	}}}
	err := loop.Check(later)
	if want := "since the run began: type, reverseDns ipv4\n"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v has no %q", err, want)
	}
}
