// Package progress is how a run of apply says how far it is, to whoever shows
// it. It knows neither terminal nor clock.
package progress

import (
	"context"
	"errors"

	"github.com/talosgen/talosgen/internal/diag"
)

// State is how far a stage or a step is.
type State string

// The states. A stage or step that has begun ends with Done, Failed, Interrupted or
// Waited.
const (
	Begun  State = "begun"
	Note   State = "note" // something worth saying while it goes on
	Done   State = "done"
	Failed State = "failed"
	// Interrupted ends what was told to stop, such as by Ctrl-C.
	Interrupted State = "interrupted"
	// Skipped is a step that was not tried, because of what failed or was interrupted
	// before.
	Skipped State = "skipped"
	// Waited ends something that is no step of the stage: it was waited for.
	Waited State = "waited"
)

// Failure is the state of what ended with an error.
func Failure(err error) State {
	switch diag.CodeOf(err) {
	case diag.Interrupted:
		return Interrupted
	case diag.Input: // of errors that have no code, too
		if errors.Is(err, context.Canceled) {
			return Interrupted
		}
	}
	return Failed
}

// Event is a piece of news.
type Event struct {
	// The stage that the run is in, such as observe, lock, infrastructure, nodes,
	// kubernetes, verify.
	Stage string
	// The step within the stage, such as "create server prod-worker-1"; empty
	// if the news is about the stage.
	Step  string
	State State
	// What is to be said of it in one line, such as what is waited for; may be
	// empty.
	Text string
	// Of a stage that has begun: how many steps it has; 0 if that is not known.
	Steps int
}

// Sink takes events. It is called by several goroutines at once, and must not
// block.
type Sink func(Event)

// Stage is a stage that goes on.
type Stage struct {
	name string
	sink Sink
}

// Begin says that a stage begins. A nil sink is nobody who listens.
func Begin(sink Sink, name string, steps int) Stage {
	if sink == nil {
		sink = func(Event) {}
	}
	sink(Event{Stage: name, State: Begun, Steps: steps})
	return Stage{name: name, sink: sink}
}

// Step says how a step goes on.
func (s Stage) Step(step string, state State, text string) {
	s.sink(Event{Stage: s.name, Step: step, State: state, Text: text})
}

// End says how the stage ended, and returns err.
func (s Stage) End(err error) error {
	state, text := Done, ""
	if err != nil {
		state, text = Failure(err), err.Error()
	}
	s.sink(Event{Stage: s.name, State: state, Text: text})
	return err
}
