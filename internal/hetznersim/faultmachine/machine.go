package faultmachine

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/talosgen/talosgen/internal/hetznersim"
	"github.com/talosgen/talosgen/internal/hetznersim/faultproxy"
)

// Machine stands before a simulator, and lets a schedule strike.
type Machine struct {
	sim *hetznersim.Sim

	mu     sync.Mutex
	left   []*strike
	struck int
}

// strike is a fault that waits for its call.
type strike struct {
	Fault
	skip, times int
	as          faultproxy.Effect
}

// New returns a machine without faults.
func New(sim *hetznersim.Sim) *Machine { return &Machine{sim: sim} }

// Begin lets a schedule strike from now on, in the place of the one before.
func (m *Machine) Begin(s Schedule) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left, m.struck = nil, 0
	for _, f := range s {
		k := kindOf(f.Kind)
		m.left = append(m.left, &strike{f, f.Nth, k.Times, k.effect(m, f)})
	}
}

// End ends the schedule, and returns how many calls it has struck.
func (m *Machine) End() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = nil
	m.sim.ClearFaults()
	return m.struck
}

// ServeHTTP passes a request on, or lets a fault strike it.
func (m *Machine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	as := m.next(r)
	if as == nil {
		m.sim.ServeHTTP(w, r)
		return
	}
	as(w, r, m.sim)
}

// next returns what strikes a request, if anything does.
func (m *Machine) next(r *http.Request) faultproxy.Effect {
	operation := Operation(r.Method, r.URL.Path)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.left {
		if s.times == 0 || s.Operation != operation && s.Operation != Every && !(s.Operation == EveryRead && r.Method == http.MethodGet) {
			continue
		}
		if s.skip > 0 {
			s.skip--
			continue
		}
		s.times--
		m.struck++
		return s.as
	}
	return nil
}

// Operations of faults that are not on a single one.
const (
	Every     = "*"
	EveryRead = "GET *"
)

// Fault is a kind of fault on a call.
type Fault struct {
	Operation string // or [Every], or [EveryRead]
	Nth       int    // which call of the operation, from 0; the first one for what goes on
	Kind      string // the name of a [Kind]
	Seconds   int    // of delays and lags
}

// Single reports whether the fault strikes one call only.
func (f Fault) Single() bool { return kindOf(f.Kind).Times == 1 }

// String is the fault in a few words.
func (f Fault) String() string {
	text := fmt.Sprintf("%s: %s", f.Operation, f.Kind)
	if f.Nth > 0 {
		text = fmt.Sprintf("%s (number %d): %s", f.Operation, f.Nth+1, f.Kind)
	}
	if kindOf(f.Kind).timed {
		text += fmt.Sprintf(", %d s", f.Seconds)
	}
	return text
}

// Schedule are the faults of a run.
type Schedule []Fault

// String is the schedule in a line.
func (s Schedule) String() string {
	var parts []string
	for _, f := range s {
		parts = append(parts, f.String())
	}
	return strings.Join(parts, "; ")
}
