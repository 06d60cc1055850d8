package health

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/diag"
)

// stepClock moves on when somebody sleeps.
type stepClock struct{ at time.Time }

func (c *stepClock) Now() time.Time { return c.at }

func (c *stepClock) Sleep(ctx context.Context, d time.Duration) error {
	c.at = c.at.Add(d)
	return ctx.Err()
}

// guard sees the states of a cluster, one after the other; the last one stays.
// Each look takes ten seconds.
func guard(states ...func(*Facts)) (g *Guard, clock *stepClock, reported *[]string) {
	clock, reported = &stepClock{at: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}, &[]string{}
	return &Guard{
		Collect: func(context.Context) Facts {
			f := wellFacts()
			states[0](&f)
			states = states[min(1, len(states)-1):]
			return f
		},
		Clock: clock, Patience: node.Patience{Every: 10 * time.Second, Within: 5 * time.Minute}, Settle: time.Minute,
		Notify: func(text string) { *reported = append(*reported, text) },
	}, clock, reported
}

func well(*Facts) {}

func boots(i int) func(*Facts) { return func(f *Facts) { f.Nodes[i].Status.Stage = node.StageBooting } }

func silentAPI(f *Facts) { f.Kubernetes = Kubernetes{Err: errors.New("refuses connections")} }

func away(i int) func(*Facts) {
	return func(f *Facts) {
		f.Nodes[i] = Node{Name: f.Nodes[i].Name, ControlPlane: f.Nodes[i].ControlPlane, Err: errors.New("does not answer")}
	}
}

// TestBefore is whether nodes may be disturbed, and after how long that is said.
func TestBefore(t *testing.T) {
	for _, test := range []struct {
		name   string
		states []func(*Facts)
		except []string
		took   time.Duration
		fails  string
		told   string
	}{
		{"well", []func(*Facts){well}, nil, 0, "", ""},
		{"well after a while", []func(*Facts){boots(0), boots(0), silentAPI, well}, nil, 30 * time.Second, "",
			"waits: stage running: cp-1: it is booting|waits: Kubernetes API: refuses connections"},
		{"the API is ill, and stays so", []func(*Facts){silentAPI}, nil, time.Minute, "",
			"waits: Kubernetes API: refuses connections|goes on, though ill already: Kubernetes API: refuses connections"},
		{"a worker is ill, and stays so", []func(*Facts){away(3)}, nil, time.Minute, "",
			"waits: node reached: w-1: does not answer|goes on, though ill already: node reached: w-1: does not answer"},
		{"a control plane is away", []func(*Facts){away(2)}, nil, 5 * time.Minute,
			"cluster: not well within 5m0s: node reached: cp-3: does not answer", "waits: node reached: cp-3: does not answer"},
		{"a control plane is away, which is known", []func(*Facts){away(2)}, []string{"cp-3"}, 0, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, clock, reported := guard(test.states...)
			g.Except = test.except
			begin := clock.Now()
			err := g.Before(t.Context())
			checkGuard(t, err, test.fails, clock.Now().Sub(begin), test.took)
			if got := strings.Join(*reported, "|"); got != test.told {
				t.Errorf("told\n%s\nwant\n%s", got, test.told)
			}
		})
	}
}

// TestAfter is when a node that was disturbed counts as well again.
func TestAfter(t *testing.T) {
	both := func(a, b func(*Facts)) func(*Facts) { return func(f *Facts) { a(f); b(f) } }
	for _, test := range []struct {
		name   string
		before func(*Facts)
		node   string
		states []func(*Facts)
		took   time.Duration
		fails  string
	}{
		{"at once", well, "cp-1", []func(*Facts){well}, 0, ""},
		{"it boots first", well, "cp-1", []func(*Facts){away(0), boots(0), well}, 20 * time.Second, ""},
		{"it does not come back", well, "cp-1", []func(*Facts){away(0)}, 5 * time.Minute, "node cp-1: not well again within 5m0s: node reached: cp-1: does not answer"},
		{"the API was well and is not", well, "cp-1", []func(*Facts){silentAPI}, 5 * time.Minute, "node cp-1: not well again within 5m0s: Kubernetes API: refuses connections"},
		{"the API was ill before", silentAPI, "cp-1", []func(*Facts){boots(0), silentAPI}, 10 * time.Second, ""},
		{"another worker is disturbed too", well, "cp-1", []func(*Facts){away(3)}, 0, ""},
		{"a worker comes back", well, "w-1", []func(*Facts){away(3), well}, 10 * time.Second, ""},
		{"a worker that was away before", away(3), "w-1", []func(*Facts){away(3)}, 5 * time.Minute, "node w-1: not well again within 5m0s: node reached: w-1: does not answer"},
		{"a control plane is lost meanwhile", well, "w-1", []func(*Facts){away(1)}, 5 * time.Minute, "node w-1: not well again within 5m0s: node reached: cp-2: does not answer"},
		{"what was ill does not hide etcd", silentAPI, "cp-1", []func(*Facts){both(silentAPI, func(f *Facts) { f.Nodes[2].Etcd.Status.Leader = 0 })}, 5 * time.Minute,
			"node cp-1: not well again within 5m0s: etcd leader: cp-3 sees none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			states := append([]func(*Facts){}, test.states...)
			g, clock, _ := guard(test.before)
			if err := g.Before(t.Context()); err != nil {
				t.Fatal(err)
			}
			next, _, _ := guard(states...)
			g.Collect = next.Collect
			begin := clock.Now()
			err := g.After(t.Context(), test.node)
			checkGuard(t, err, test.fails, clock.Now().Sub(begin), test.took)
		})
	}
}

func checkGuard(t *testing.T, err error, want string, took, wantTook time.Duration) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
		if code := diag.CodeOf(err); code != diag.NotReady {
			t.Errorf("exit code %d", code)
		}
	}
	if got != want {
		t.Errorf("error\n%s\nwant\n%s", got, want)
	}
	if took != wantTook {
		t.Errorf("took %v, want %v", took, wantTook)
	}
}

// TestInterruptedGuard ends at once.
func TestInterruptedGuard(t *testing.T) {
	g, _, _ := guard(silentAPI)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Before(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
