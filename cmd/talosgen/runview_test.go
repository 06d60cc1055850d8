package main

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/printable"
	"github.com/talosgen/talosgen/testenv/screen"
)

// scriptedRun is a run with two steps at once, of which one fails.
var scriptedRun = []struct {
	after time.Duration
	event progress.Event
}{
	{0, progress.Event{Stage: "observe", State: progress.Begun}},
	{800 * time.Millisecond, progress.Event{Stage: "observe", State: progress.Done}},
	{0, progress.Event{Stage: "nodes", State: progress.Begun, Steps: 10}},
	{time.Second, progress.Event{Stage: "nodes", Step: "create network dev", State: progress.Begun}},
	{time.Second, progress.Event{Stage: "nodes", Step: "create firewall dev", State: progress.Begun}},
	{time.Second, progress.Event{Stage: "nodes", Step: "create network dev", State: progress.Note, Text: "waiting for create_network"}},
	{0, progress.Event{Stage: "nodes", Step: "create network dev", State: progress.Note, Text: "waiting for create_network"}},
	{time.Second, progress.Event{Stage: "nodes", Step: "create network dev", State: progress.Done, Text: "10.0.0.0/16"}},
	{70 * time.Second, progress.Event{Stage: "nodes", Step: "create firewall dev", State: progress.Failed, Text: "limit reached\n  hint"}},
	{time.Second, progress.Event{Stage: "nodes", State: progress.Failed, Text: "limit reached"}},
}

// showRun shows the run up to an event.
func showRun(live bool, events int) string {
	var out bytes.Buffer
	clock := fixedTime()
	v := &runView{
		clean: printable.Line,
		out:   &out, now: func() time.Time { return clock }, live: live,
		size: func() size { return size{40, 24} }, left: func() int { return 3540 },
	}
	for _, s := range scriptedRun[:events] {
		clock = clock.Add(s.after)
		v.redraw()
		v.event(s.event)
	}
	return out.String()
}

func TestRunViewPlain(t *testing.T) {
	want := `observe 0.8 s
nodes: 10 steps
  create network dev: waiting for create_network
  [ 1/10] create network dev 3.0 s: 10.0.0.0/16
  [ 2/10] create firewall dev failed 1m12s: limit reached
nodes failed after 1m15s
`
	if got := showRun(false, len(scriptedRun)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What a step waits for is said again when something else was said meanwhile.
func TestRunViewRepeatsNothing(t *testing.T) {
	var out bytes.Buffer
	v := &runView{out: &out, clean: printable.Line, now: fixedTime}
	for _, text := range []string{"a", "a", "b", "a"} {
		v.event(progress.Event{Stage: "nodes", Step: "configure x", State: progress.Note, Text: text})
	}
	if got, want := out.String(), "  configure x: a\n  configure x: b\n  configure x: a\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is waited for beside the steps is shown, and not counted.
func TestRunViewWaited(t *testing.T) {
	var out bytes.Buffer
	v := &runView{out: &out, clean: printable.Line, now: fixedTime}
	v.event(progress.Event{Stage: "nodes", State: progress.Begun, Steps: 1})
	v.event(progress.Event{Stage: "nodes", Step: "wait for nodes", State: progress.Note, Text: "cp-1 is booting"})
	v.event(progress.Event{Stage: "nodes", Step: "wait for nodes", State: progress.Waited})
	v.event(progress.Event{Stage: "nodes", Step: "configure cp-1", State: progress.Done})
	want := "nodes: 1 step\n  wait for nodes: cp-1 is booting\n  wait for nodes 0.0 s\n  [1/1] configure cp-1 0.0 s\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// interrupt is what a terminal shows of Ctrl-C, on the line where the cursor is.
const interrupt = "^C"

// seen is what a terminal shows after a text, and what was scrolled away.
func seen(text string) string {
	shown := screen.NewScreen(100, 60)
	_, _ = shown.Write([]byte(strings.ReplaceAll(text, "\n", "\r\n"))) // as the kernel does
	return strings.TrimRight(shown.All(), "\n")
}

// What the terminal shows of Ctrl-C leaves nothing of a line that goes.
func TestRunViewInterrupted(t *testing.T) {
	if got := seen("kubernetes 16/16\n^C\x1b[1A\x1b[Jdone\n"); got != "kudone" {
		t.Fatalf("the screen shows %q: it hides what this is about", got)
	}
	var out bytes.Buffer
	v := &runView{out: &out, clean: printable.Line, now: fixedTime, live: true, size: func() size { return size{80, 24} }, left: func() int { return -1 }}
	v.event(progress.Event{Stage: "nodes", State: progress.Begun})
	out.WriteString(interrupt)
	v.event(progress.Event{Stage: "nodes", State: progress.Failed})
	if got := seen(out.String()); got != "nodes failed after 0.0 s" {
		t.Errorf("screen\n%s", got)
	}
}

// What is waited for is shown with its reason on a terminal of 80 columns, and
// not on more lines than it has.
func TestRunViewFolds(t *testing.T) {
	const why = `Kustomization/flux-system/talosgen-controllers: CiliumClusterwideNetworkPolicy/deny-metadata dry-run failed: no matches for kind "CiliumClusterwideNetworkPolicy" in version "cilium.io/v2"`
	for _, tt := range []struct{ name, note, want string }{
		{"a reason", why, `kubernetes, 0.0 s
  wait for sources 0.0 s: Kustomization/flux-system/talosgen-controllers:
      CiliumClusterwideNetworkPolicy/deny-metadata dry-run failed: no matches
      for kind "CiliumClusterwideNetworkPolicy" in version "cilium.io/v2"`},
		{"without spaces", strings.Repeat("x", 100), `kubernetes, 0.0 s
  wait for sources 0.0 s: ` + strings.Repeat("x", 53) + `
      ` + strings.Repeat("x", 47)},
		{"longer than there is room for", strings.Repeat("word ", 100), `kubernetes, 0.0 s
  wait for sources 0.0 s: word word word word word word word word word word
      word word word word word word word word word word word word word word
      word word word word word word word word word word word word word word
      word word word word word word word word word word word word word word wo…`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			v := &runView{out: &out, clean: printable.Line, now: fixedTime, live: true, size: func() size { return size{80, 24} }, left: func() int { return -1 }}
			v.event(progress.Event{Stage: "kubernetes", State: progress.Begun})
			v.event(progress.Event{Stage: "kubernetes", Step: "wait for sources", State: progress.Note, Text: tt.note})
			if got := seen(out.String()); got != tt.want {
				t.Errorf("screen\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestRunViewLive(t *testing.T) {
	for events, want := range map[int]string{
		7: `observe 0.8 s
nodes: 10 steps
nodes 0/10, 3.0 s, 3540 requests left
  create network dev 2.0 s: waiting fo…
  create firewall dev 1.0 s`,
		8: `observe 0.8 s
nodes: 10 steps
  [ 1/10] create network dev 3.0 s:
      10.0.0.0/16
nodes 1/10, 4.0 s, 3540 requests left
  create firewall dev 2.0 s`,
		len(scriptedRun): `observe 0.8 s
nodes: 10 steps
  [ 1/10] create network dev 3.0 s:
      10.0.0.0/16
  [ 2/10] create firewall dev failed
      1m12s: limit reached
nodes failed after 1m15s`,
	} {
		if got := seen(showRun(true, events)); got != want {
			t.Errorf("after %d events\n%s\nwant\n%s", events, got, want)
		}
	}
}

func TestRunViewManySteps(t *testing.T) {
	var out bytes.Buffer
	v := &runView{out: &out, clean: printable.Line, now: fixedTime, live: true, size: func() size { return size{0, 24} }, left: func() int { return -1 }}
	v.event(progress.Event{Stage: "nodes", State: progress.Begun, Steps: 20})
	for i := range 11 {
		v.event(progress.Event{Stage: "nodes", Step: strings.Repeat("x", i+1), State: progress.Begun})
	}
	shown := seen(out.String())
	if strings.Count(shown, "\n") != 1+mostRunning+1 || !strings.HasSuffix(shown, "  xxxxxxxx 0.0 s\n  and 3 more") {
		t.Errorf("screen\n%s", shown)
	}
}

// A terminal that gets narrower while something is shown has it once afterwards, with all
// that stays above it, whether it breaks lines anew or cuts them.
func TestRunViewResized(t *testing.T) {
	for _, reflows := range []bool{true, false} {
		shown := screen.NewScreen(60, 12)
		shown.Reflows = reflows
		on := size{60, 12}
		v := &runView{out: lineEnds{shown}, clean: printable.Line, now: fixedTime, live: true, size: func() size { return on }, left: func() int { return -1 }}
		v.line("Plan: 3 to add")
		v.event(progress.Event{Stage: "nodes", State: progress.Begun})
		for _, name := range []string{"configure acme-production-worker-2", "configure acme-production-worker-1"} {
			v.event(progress.Event{Stage: "nodes", Step: name, State: progress.Note, Text: "it is installing"})
		}
		on = size{30, 8}
		shown.Resize(on.columns, on.rows)
		v.redraw()
		want := "Plan: 3 to add\nnodes, 0.0 s\n  configure acme-production-…\n  configure acme-production-…\n"
		if got := shown.Text(); got != want {
			t.Errorf("breaks lines anew: %t: screen\n%s", reflows, got)
		}
		v.event(progress.Event{Stage: "nodes", State: progress.Done})
		if got := shown.Text(); got != "Plan: 3 to add\nnodes 0.0 s\n" {
			t.Errorf("breaks lines anew: %t: at the end\n%s", reflows, got)
		}
	}
}

// lineEnds writes to a terminal as the kernel does.
type lineEnds struct{ io.Writer }

func (l lineEnds) Write(p []byte) (int, error) {
	_, err := l.Writer.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return len(p), err
}

// What is shown is never more than the terminal is high: what is scrolled away would stay.
func TestRunViewLow(t *testing.T) {
	shown := screen.NewScreen(60, 4)
	v := &runView{out: lineEnds{shown}, clean: printable.Line, now: fixedTime, live: true, size: func() size { return size{60, 4} }, left: func() int { return -1 }}
	v.event(progress.Event{Stage: "nodes", State: progress.Begun})
	for i := range 7 {
		v.event(progress.Event{Stage: "nodes", Step: "step " + strconv.Itoa(i), State: progress.Begun})
	}
	v.event(progress.Event{Stage: "nodes", State: progress.Done})
	if got := shown.All(); got != "nodes 0.0 s\n" {
		t.Errorf("screen\n%s", got)
	}
}

// After an interrupt, and after a failure, what was not tried is one line.
func TestRunViewNotTried(t *testing.T) {
	var out bytes.Buffer
	v := &runView{out: &out, clean: printable.Line, now: fixedTime}
	v.event(progress.Event{Stage: "nodes", State: progress.Begun, Steps: 4})
	v.event(progress.Event{Stage: "nodes", Step: "configure a", State: progress.Begun})
	v.event(progress.Event{Stage: "nodes", Step: "configure a", State: progress.Interrupted, Text: "apply: interrupted"})
	for _, name := range []string{"b", "c", "d"} {
		v.event(progress.Event{Stage: "nodes", Step: "configure " + name, State: progress.Skipped})
	}
	v.event(progress.Event{Stage: "nodes", State: progress.Interrupted})
	want := "nodes: 4 steps\n  [1/4] configure a interrupted 0.0 s\n  not tried: 3 steps\nnodes interrupted after 0.0 s\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
