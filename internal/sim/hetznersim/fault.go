package hetznersim

import (
	"context"
	"net/http"
	"path"
	"time"
)

// Fault is something that goes wrong with one call, or several.
type Fault struct {
	// Call is the number of the call that it strikes, counted from 1 since New or
	// the last [Sim.ResetCalls]; 0 is any.
	Call int
	// Method and Path restrict it to requests: "POST",
	// "/servers/*/actions/poweron"; path is a pattern of [path.Match], without
	// /v1. Empty is any.
	Method, Path string
	// Times is how often it strikes; 0 is once, a negative one is always.
	Times int
	// When says whether the call has its effect all the same.
	When When
	// As is what the client sees.
	As Outcome
	// Then is called when it strikes, before the client is answered; nil for
	// nothing. A test stops its client there.
	Then func()
}

// When is a moment of a call.
type When int

// Moments of a call.
const (
	BeforeEffect When = iota // the call changes nothing
	AfterEffect              // the call changes what it should, and its answer is lost
)

// Outcome is what a client sees of a fault.
type Outcome struct {
	kind   outcomeKind
	err    *apiError
	delay  time.Duration
	action *actionError
}

type outcomeKind int

const (
	asDrop outcomeKind = iota
	asHang
	asSlow
	asStatus
	asActionError
	asActionLate
)

// Drop closes the connection without an answer. It is the zero Outcome. Go's
// client repeats a GET whose connection is lost, unless its context has ended.
func Drop() Outcome { return Outcome{} }

// Hang never answers: the client must give up.
func Hang() Outcome { return Outcome{kind: asHang} }

// Slow answers after a time of the simulator's clock, as if nothing was wrong.
func Slow(d time.Duration) Outcome { return Outcome{kind: asSlow, delay: d} }

// Status answers with an error of the API: 503, "unavailable", "please wait".
// With status 0 it is the one that belongs to the code.
func Status(status int, code, message string) Outcome {
	e := fail(code, "%s", message)
	if status != 0 {
		e.Status = status
	}
	return Outcome{kind: asStatus, err: e}
}

// ActionError lets the call succeed, and the first action that it begins end in
// an error.
func ActionError(code, message string) Outcome {
	return Outcome{kind: asActionError, action: &actionError{code, message}}
}

// ActionLate lets the call succeed, and the first action that it begins end so
// much later than it would.
func ActionLate(by time.Duration) Outcome { return Outcome{kind: asActionLate, delay: by} }

// Inject adds a fault. Of several that fit a call, the first one strikes.
func (s *Sim) Inject(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	s.faults = append(s.faults, &f)
}

// ClearFaults removes all faults.
func (s *Sim) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// instead reports whether the outcome takes the place of the answer.
func (o Outcome) instead() bool { return o.kind == asDrop || o.kind == asHang || o.kind == asStatus }

// strike returns the fault of a call, if there is one, and counts it.
func (s *Sim) strike(method, at string) *Fault {
	for _, f := range s.faults {
		if f.Times == 0 || f.Call != 0 && f.Call != s.count || f.Method != "" && f.Method != method {
			continue
		}
		if fits, err := path.Match(f.Path, at); f.Path != "" && (err != nil || !fits) {
			continue
		}
		f.Times--
		return f
	}
	return nil
}

// reply turns the answer of a call into what the client gets, if it gets one.
func (o Outcome) reply(r reply, err error) (reply, error) {
	switch o.kind {
	case asStatus:
		return reply{}, o.err
	case asDrop, asHang:
		return reply{status: http.StatusTeapot}, nil // for the log: nobody gets it
	default:
		return r, err
	}
}

// allowAnswer waits as long as an outcome says, and reports whether the client
// gets an answer at all.
func (o Outcome) allowAnswer(ctx context.Context, clock Clock) bool {
	switch o.kind {
	case asDrop:
		return false
	case asHang:
		<-ctx.Done()
		return false
	case asSlow:
		return clock.Sleep(ctx, o.delay) == nil
	default:
		return true
	}
}
