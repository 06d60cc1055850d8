package main

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/printable"
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
		width: func() int { return 40 }, left: func() int { return 3540 },
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

// screen is what a terminal shows after a text.
func screen(text string) string {
	var lines []string
	column, left := 0, "" // of the cursor, and what stays before it
	for len(text) > 0 {
		if rest, ok := strings.CutPrefix(text, interrupt); ok {
			column, text = column+len(interrupt), rest
			continue
		}
		if rest, ok := strings.CutPrefix(text, "\r"); ok {
			column, text = 0, rest
			continue
		}
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			number, rest, _ := strings.Cut(rest, "A")
			up, err := strconv.Atoi(number)
			if err != nil || up > len(lines) {
				return "up by " + number
			}
			left = lines[len(lines)-up][:column]
			lines, text = lines[:len(lines)-up], strings.TrimPrefix(rest, "\x1b[J")
			continue
		}
		line, rest, _ := strings.Cut(text, "\n")
		lines, text = append(lines, left+line), rest
		column, left = 0, ""
	}
	return strings.Join(lines, "\n")
}

// What the terminal shows of Ctrl-C leaves nothing of a line that goes.
func TestRunViewInterrupted(t *testing.T) {
	if got := screen("kubernetes 16/16\n^C\x1b[1A\x1b[Jdone\n"); got != "kudone" {
		t.Fatalf("the screen shows %q: it hides what this is about", got)
	}
	var out bytes.Buffer
	v := &runView{out: &out, clean: printable.Line, now: fixedTime, live: true, width: func() int { return 80 }, left: func() int { return -1 }}
	v.event(progress.Event{Stage: "nodes", State: progress.Begun})
	out.WriteString(interrupt)
	v.event(progress.Event{Stage: "nodes", State: progress.Failed})
	if got := screen(out.String()); got != "nodes failed after 0.0 s" {
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
			v := &runView{out: &out, clean: printable.Line, now: fixedTime, live: true, width: func() int { return 80 }, left: func() int { return -1 }}
			v.event(progress.Event{Stage: "kubernetes", State: progress.Begun})
			v.event(progress.Event{Stage: "kubernetes", Step: "wait for sources", State: progress.Note, Text: tt.note})
			if got := screen(out.String()); got != tt.want {
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
  [ 1/10] create network dev 3.0 s: 10.0.0.0/16
nodes 1/10, 4.0 s, 3540 requests left
  create firewall dev 2.0 s`,
		len(scriptedRun): `observe 0.8 s
nodes: 10 steps
  [ 1/10] create network dev 3.0 s: 10.0.0.0/16
  [ 2/10] create firewall dev failed 1m12s: limit reached
nodes failed after 1m15s`,
	} {
		if got := screen(showRun(true, events)); got != want {
			t.Errorf("after %d events\n%s\nwant\n%s", events, got, want)
		}
	}
}

func TestRunViewManySteps(t *testing.T) {
	var out bytes.Buffer
	v := &runView{out: &out, clean: printable.Line, now: fixedTime, live: true, width: func() int { return 0 }, left: func() int { return -1 }}
	v.event(progress.Event{Stage: "nodes", State: progress.Begun, Steps: 20})
	for i := range 11 {
		v.event(progress.Event{Stage: "nodes", Step: strings.Repeat("x", i+1), State: progress.Begun})
	}
	shown := screen(out.String())
	if strings.Count(shown, "\n") != 1+mostRunning+1 || !strings.HasSuffix(shown, "  xxxxxxxx 0.0 s\n  and 3 more") {
		t.Errorf("screen\n%s", shown)
	}
}
