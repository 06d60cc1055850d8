package rehearsal_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/apply/rehearsal"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/secret"
)

var update = flag.Bool("update", false, "write the golden files")

// clock is a time that a test moves.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

// after is a moment so many seconds after noon.
func after(seconds int) time.Time {
	return time.Date(2026, 11, 1, 12, 0, seconds, 0, time.UTC)
}

// recorded is a run of which every part of a report has something to say.
func recorded() *rehearsal.Report {
	c := &clock{after(0)}
	r := &rehearsal.Recorder{Now: c.now}
	for _, e := range []struct {
		at int
		progress.Event
	}{
		{0, progress.Event{Stage: "nodes", State: progress.Begun}},
		{2, progress.Event{Stage: "nodes", Step: "drain w-1", State: progress.Begun}},
		{4, progress.Event{Stage: "nodes", Step: "drain w-1", State: progress.Note, Text: "web-2 is left"}},
		{14, progress.Event{Stage: "nodes", Step: "drain w-1", State: progress.Done}},
		{14, progress.Event{Stage: "nodes", Step: "configure w-1", State: progress.Begun}},
		{15, progress.Event{Stage: "nodes", Step: "configure w-1", State: progress.Failed, Text: "EOF"}},
		{20, progress.Event{Stage: "nodes", Step: "configure w-1", State: progress.Begun}},
		{90, progress.Event{Stage: "nodes", Step: "configure w-1", State: progress.Done}},
		{90, progress.Event{Stage: "kubernetes", Step: "update Deployment.apps/default/web", State: progress.Begun}},
		{100, progress.Event{Stage: "kubernetes", State: progress.Failed, Text: "interrupted"}},
	} {
		c.Time = after(e.at)
		r.Event(e.Event)
	}
	web := func(at int, ready, wants int64) rehearsal.Change {
		return rehearsal.Change{Kind: "Deployment", Namespace: "default", Name: "web", Ready: ready, Wants: wants, At: after(at)}
	}
	pod := func(name string, at int, ready, wants int64) rehearsal.Change {
		return rehearsal.Change{Kind: "StatefulSet", Namespace: "default", Name: name, Ready: ready, Wants: wants, At: after(at)}
	}
	report := r.Report(rehearsal.Seen{
		Changes: []rehearsal.Change{
			web(0, 2, 2), pod("db", 0, 1, 1), pod("ill", 0, 0, 1), pod("gone", 0, 1, 1), pod("lost", 0, 3, 3),
			web(3, 1, 2), pod("db", 14, 0, 1), web(13, 2, 2), pod("gone", 30, 0, 0), pod("lost", 80, 2, 3), pod("db", 44, 1, 1),
		},
		Moments: []rehearsal.Moment{{At: after(0), API: true, Quorum: true}, {At: after(21), Quorum: true}, {At: after(51), API: true, Quorum: true}, {At: after(95), API: true}},
		Refused: []rehearsal.Refusal{{Namespace: "default", Budget: "web", Pod: "web-2", At: after(4)}, {Namespace: "default", Budget: "web", Pod: "web-2", At: after(13)}},
		Nowhere: map[string]string{"default/lost-2": "0/2 nodes are available: 2 without enough cpu"},
		Until:   after(160),
	})
	report.Environment, report.Cluster, report.Command, report.Observed = "prod", "one", "apply", after(0)
	report.MonthlyCost, report.Currency = "+1.50", "EUR"
	report.Risks = append(report.Risks, rehearsal.Risk{ID: "server/w-1", Text: "it is powered off"})
	return report
}

func TestReport(t *testing.T) {
	report := recorded()
	report.Conclude(nil, nil, nil)
	if report.Result != rehearsal.Risks {
		t.Errorf("the result is %s", report.Result)
	}
	file := filepath.Join("testdata", "report.txt")
	if *update {
		if err := os.WriteFile(file, []byte(report.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != report.String() {
		t.Errorf("%s has another text than\n%s", file, report)
	}
}

// TestDestroyed: that a destroyed cluster has no control plane and no pods is its end, and no
// time at which they are away; if the run stops before its end, it is.
func TestDestroyed(t *testing.T) {
	report := func() *rehearsal.Report {
		return &rehearsal.Report{
			Command: rehearsal.Destroy,
			Gaps:    []rehearsal.Gap{{What: "quorum of etcd", At: 5, Seconds: 5}, {What: "Kubernetes API", At: 12, Seconds: 600, Stays: true}},
			Workloads: []rehearsal.Workload{
				{Kind: "Deployment", Namespace: "default", Name: "web", Wants: 2, Below: 600, Stays: true},
				{Kind: "Deployment", Namespace: "default", Name: "api", Wants: 2, Lowest: 1, Below: 3},
			},
			Nowhere: []rehearsal.Nowhere{{Pod: "default/web-1", Why: "no nodes"}},
		}
	}
	for name, c := range map[string]struct {
		failed []string
		want   string
	}{
		"it ends": {nil, `
workloads (estimated)
  Deployment default/web ends with the cluster
  Deployment default/api: 1 of 2 ready at the worst; fewer than it wants for 3s

control plane (estimated)
  quorum of etcd is away for 5s, from 5s on
  Kubernetes API ends with the cluster, after 12s
`},
		"it stops": {[]string{"server/a: locked"}, `
problems
  server/a: locked

workloads (estimated)
  Deployment default/web: 0 of 2 ready at the worst; fewer than it wants for 10m0s, and still at the end
  Deployment default/api: 1 of 2 ready at the worst; fewer than it wants for 3s

pods that fit nowhere for a while (computed)
  default/web-1: no nodes

control plane (estimated)
  quorum of etcd is away for 5s, from 5s on
  Kubernetes API is away for 10m0s, from 12s on, and still at the end
`},
	} {
		r := report()
		r.Conclude(nil, c.failed, nil)
		if _, got, _ := strings.Cut(r.String(), "\n"); got != c.want {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// TestResults: what is refused counts more than what fails, and that more than risks.
func TestResults(t *testing.T) {
	for _, c := range []struct {
		refused, failed, left []string
		change                func(*rehearsal.Report)
		want                  rehearsal.Result
	}{
		{nil, nil, nil, func(*rehearsal.Report) {}, rehearsal.Clear},
		{nil, nil, nil, func(r *rehearsal.Report) { r.Risks = []rehearsal.Risk{{ID: "a"}} }, rehearsal.Risks},
		{nil, nil, nil, func(r *rehearsal.Report) { r.Workloads = []rehearsal.Workload{{Below: 12}} }, rehearsal.Clear},
		{nil, nil, nil, func(r *rehearsal.Report) { r.Workloads = []rehearsal.Workload{{Zero: 1}} }, rehearsal.Risks},
		{nil, nil, nil, func(r *rehearsal.Report) { r.Gaps = []rehearsal.Gap{{What: "Kubernetes API"}} }, rehearsal.Risks},
		{nil, nil, nil, func(r *rehearsal.Report) { r.Nowhere = []rehearsal.Nowhere{{Pod: "a/b"}} }, rehearsal.Risks},
		{nil, nil, []string{"waits"}, func(*rehearsal.Report) {}, rehearsal.Risks},
		{nil, []string{"broken"}, []string{"waits"}, func(r *rehearsal.Report) { r.Risks = []rehearsal.Risk{{ID: "a"}} }, rehearsal.Failed},
		{[]string{"no"}, []string{"broken"}, nil, func(*rehearsal.Report) {}, rehearsal.Refused},
	} {
		r := &rehearsal.Report{}
		c.change(r)
		if r.Conclude(c.refused, c.failed, c.left); r.Result != c.want || len(r.Problems) != len(c.refused)+len(c.failed)+len(c.left) {
			t.Errorf("%v, %v, %v: %s with %q, not %s", c.refused, c.failed, c.left, r.Result, r.Problems, c.want)
		}
	}
}

func TestPodStart(t *testing.T) {
	pod := func(seconds int, restarts int64) map[string]any {
		return map[string]any{"kind": "Pod", "status": map[string]any{
			"startTime":         after(0).Format(time.RFC3339),
			"containerStatuses": []any{map[string]any{"restartCount": restarts}},
			"conditions":        []any{map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": after(seconds).Format(time.RFC3339)}},
		}}
	}
	o := &rehearsal.Observed{}
	for _, seconds := range []int{9, 5} {
		o.Objects = append(o.Objects, pod(seconds, 0))
	}
	o.Objects = append(o.Objects, pod(1, 1), map[string]any{"kind": "Pod"}, map[string]any{"kind": "Node"})
	if _, known := o.PodStart(); known {
		t.Error("it is known of two pods")
	}
	o.Objects = append(o.Objects, pod(30, 0))
	if took, known := o.PodStart(); !known || took != 9*time.Second {
		t.Errorf("%s, %v", took, known)
	}
}

// TestFile: what was observed comes back from a file as it was.
func TestFile(t *testing.T) {
	o := &rehearsal.Observed{
		Environment: "prod", Cluster: "one", At: after(0), HostKey: secret.New("a host key"), Leader: 1 << 63,
		Hetzner: map[string][]json.RawMessage{"servers": {json.RawMessage(`{"name":"a"}`)}},
		Nodes:   []rehearsal.Node{{Name: "a", Config: secret.New("machine: {}"), Member: 1<<63 + 1}},
		Objects: []manifest.Object{{"kind": "Pod", "spec": map[string]any{"priority": int64(2000001000), "share": 0.5, "on": true, "list": []any{int64(1)}}}},
	}
	var text bytes.Buffer
	if err := o.Encode(&text); err != nil {
		t.Fatal(err)
	}
	again, err := rehearsal.Decode(bytes.NewReader(text.Bytes()))
	if err != nil || !reflect.DeepEqual(again, o) {
		t.Errorf("%v\n%+v\n%+v", err, again, o)
	}
	for name, text := range map[string]string{
		"no JSON": "nothing", "another": `{"kind":"Pod"}`, "newer": `{"Format":2}`, "cut": text.String()[:100],
	} {
		if _, err := rehearsal.Decode(strings.NewReader(text)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// TestUnseen: what is not simulated is named where it matters.
func TestUnseen(t *testing.T) {
	for _, c := range []struct {
		steps []rehearsal.Step
		want  string
	}{
		{nil, ""},
		{[]rehearsal.Step{{Stage: "nodes", Name: "drain a"}}, ""},
		{[]rehearsal.Step{{Stage: "kubernetes", Name: "apply a"}, {Stage: "kubernetes", Name: "apply b"}}, "the pods of workloads"},
		{[]rehearsal.Step{{Stage: "upgrade", Name: "install a"}, {Stage: "upgrade", Name: "manifests cluster"}}, "what Talos itself keeps"},
	} {
		r := rehearsal.Report{Steps: c.steps}
		r.Conclude(nil, nil, nil)
		said := 0
		for _, line := range r.Unseen {
			if strings.HasPrefix(line, c.want) && c.want != "" {
				said++
			}
		}
		if extra := len(r.Unseen) - said - min(len(c.steps), 1); extra != 0 || c.want != "" && said != 1 {
			t.Errorf("%v: %q", c.steps, r.Unseen)
		}
	}
}
