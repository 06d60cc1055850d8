package faultmachine

import (
	"net/http"

	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// Machine stands before a simulator, and lets a schedule strike.
type Machine struct {
	*faultgrammar.Striker[*Machine, faultproxy.Effect]

	sim *hetznersim.Sim
}

// New returns a machine without faults.
func New(sim *hetznersim.Sim) *Machine {
	m := &Machine{sim: sim}
	m.Striker = faultgrammar.NewStriker(kinds, m)
	return m
}

// End ends the schedule, and returns how many calls it has struck.
func (m *Machine) End() int {
	defer m.sim.ClearFaults()
	return m.Striker.End()
}

// ServeHTTP passes a request on, or lets a fault strike it.
func (m *Machine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if as, strikes := m.Next(Operation(r.Method, r.URL.Path)); strikes {
		as(w, r, m.sim)
		return
	}
	m.sim.ServeHTTP(w, r)
}
