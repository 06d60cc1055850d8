package talossim

import "time"

// Heal takes back [Machine.Cut], [Machine.Silence] and [Machine.Skew].
func (m *Machine) Heal() {
	m.fleet.change(byItself, func() {
		m.cut, m.silent = false, false
		m.skew.Store(0)
	})
}

// Skew lets its clock be ahead, or behind with a negative duration: certificates of
// clients are not valid then by its clock, and connections that exist break.
func (m *Machine) Skew(d time.Duration) {
	m.fleet.change(byItself, func() {
		m.skew.Store(int64(d))
		m.breakOff()
	})
}

// now is the time by its clock.
func (m *Machine) now() time.Time { return m.fleet.clock.Now().Add(time.Duration(m.skew.Load())) }
