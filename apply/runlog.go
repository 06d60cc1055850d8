package apply

import (
	"sync/atomic"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/apply/summary"
)

// runLog tells how a run goes on, and notes what each of its stages took.
type runLog struct {
	clock   cloud.Clock
	notify  progress.Sink
	project *cloud.Client // nil for machines that exist already
	calls   calls
	stages  []summary.Stage
}

// calls counts the requests that go elsewhere than to Hetzner Cloud.
type calls struct{ nodes, kubernetes atomic.Int64 }

// stage runs a stage, tells of it and notes the time that it took.
func (l *runLog) stage(name string, steps int, do func(progress.Stage) error) error {
	begin, before := l.clock.Now(), l.requests()
	stage := progress.Begin(l.notify, name, steps)
	err := stage.End(do(stage))
	took := l.clock.Now().Sub(begin)
	l.stages = append(l.stages, summary.Stage{Stage: name, Took: took, Seconds: took.Seconds(), Requests: l.requests().Minus(before)})
	return err
}

// warn tells of something that does not end the run, in a line that stays.
func (l *runLog) warn(stage, step, text string) {
	if l.notify != nil {
		l.notify(progress.Event{Stage: stage, Step: step, State: progress.Failed, Text: text})
	}
}

// requests are all that the run has made.
func (l *runLog) requests() summary.Requests {
	made, _ := l.hetzner()
	return summary.Requests{Hetzner: made, Nodes: int(l.calls.nodes.Load()), Kubernetes: int(l.calls.kubernetes.Load())}
}

// hetzner is how many requests Hetzner Cloud has got, and how many are left before
// its rate limit; -1 if that is not known.
func (l *runLog) hetzner() (made, left int) {
	if l.project == nil {
		return 0, -1
	}
	stats := l.project.Stats()
	return stats.Requests, stats.Remaining
}
