package talossim

import (
	"context"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Call is a call that was made to a machine.
type Call struct {
	Time    time.Time
	Machine string
	Method  string // without its service: Version; of the Kubernetes API GET /api/v1/nodes
	Code    codes.Code
}

// Fault is something that goes wrong with one call, or several.
type Fault struct {
	// Call is the number of the call that it strikes, counted from 1 since New or
	// the last [Fleet.ResetCalls]; 0 is any.
	Call int
	// Machine and Method restrict it to calls; patterns of [path.Match]. Empty is
	// any.
	Machine, Method string
	// Skip is how many calls that fit it lets pass before.
	Skip int
	// Times is how often it strikes; 0 is once, a negative one is always.
	Times int
	// After says that the call has its effect all the same, and only its answer is
	// lost.
	After bool
	// As is what the client sees.
	As Outcome
	// Then is called when it strikes, before the client is answered; nil for
	// nothing. A test stops its client there.
	Then func()
}

// Inject adds a fault. Of several that fit a call, the first one strikes.
func (f *Fleet) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault.Times == 0 {
		fault.Times = 1
	}
	f.faults = append(f.faults, &fault)
}

// ClearFaults takes all faults away.
func (f *Fleet) ClearFaults() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// Front puts something between clients and the API of Kubernetes on every machine: it
// gets each request, and what would answer it. Nil takes it away.
func (f *Fleet) Front(front func(api http.Handler) http.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.front = front
}

// Calls returns the calls since New or the last ResetCalls.
func (f *Fleet) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// ResetCalls forgets the calls, and counts from 1 again.
func (f *Fleet) ResetCalls() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.count = nil, 0
}

// underway is a call that is being answered.
type underway struct {
	ctx    context.Context
	number int // its index in calls, as long as they are not reset
	made   Call
	fault  *Fault
}

// begin is what happens before a call has any effect.
func (s *service) begin(ctx context.Context, fullMethod string) (*underway, error) {
	method := fullMethod[strings.LastIndex(fullMethod, "/")+1:]
	c, err := s.note(ctx, method)
	if err != nil {
		return nil, err
	}
	if err := s.authorize(ctx, method); err != nil {
		return nil, s.end(c, err)
	}
	return c, nil
}

// note counts a call, and lets a fault strike it.
func (s *service) note(ctx context.Context, method string) (*underway, error) {
	f := s.fleet
	f.mu.Lock()
	f.settle()
	f.count++
	c := &underway{ctx: ctx, number: len(f.calls), made: Call{Time: f.now, Machine: s.m.spec.Name, Method: method}}
	f.calls = append(f.calls, c.made)
	c.fault = f.strike(s.m.spec.Name, method)
	gone, silent := s.m.epoch != s.epoch, s.m.silent
	if gone || silent || !s.m.run.serving {
		s.m.said = nil // whoever calls can see it
	}
	f.mu.Unlock()
	switch {
	case gone:
		return nil, s.end(c, s.gone())
	case silent:
		return nil, s.end(c, errHang)
	case c.fault != nil && !c.fault.After && !c.fault.As.lets():
		return nil, s.end(c, c.fault.error())
	}
	return c, nil
}

// end is what happens after a call had its effect, and before it is answered.
func (s *service) end(c *underway, err error) error {
	f := s.fleet
	if c.fault != nil {
		if c.fault.After || c.fault.As.slow > 0 {
			err = s.late(c, err)
		}
		if c.fault.Then != nil {
			c.fault.Then()
		}
	}
	f.mu.Lock()
	c.made.Code = status.Code(err)
	if c.number < len(f.calls) {
		f.calls[c.number] = c.made
	}
	f.mu.Unlock()
	if f.called != nil {
		f.called(c.made)
	}
	return err
}

// late is the answer of a call that had its effect.
func (s *service) late(c *underway, err error) error {
	if d := c.fault.As.slow; d > 0 {
		if sleepErr := s.fleet.clock.Sleep(c.ctx, d); sleepErr != nil {
			return errGone
		}
		return err
	}
	return c.fault.error()
}

// error is what the client sees.
func (fault *Fault) error() error {
	if fault.As.err != nil {
		return fault.As.err
	}
	return errGone
}

// strike finds the fault that strikes a call.
func (f *Fleet) strike(machine, method string) *Fault {
	for _, fault := range f.faults {
		if fault.Times == 0 || fault.Call != 0 && fault.Call != f.count || !fits(fault.Machine, machine) || !fits(fault.Method, method) {
			continue
		}
		if fault.Skip > 0 {
			fault.Skip--
			continue
		}
		fault.Times--
		return fault
	}
	return nil
}

func fits(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	matched, err := path.Match(pattern, name)
	return err == nil && matched
}
