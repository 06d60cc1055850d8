package upgrade

import "time"

// Patience says how long things may take.
type Patience struct {
	Every   time.Duration // between observations
	Reboot  time.Duration // until a node has begun another boot
	Healthy time.Duration // until what is waited for between two steps is so
	// Until a control plane has noticed that programs are configured otherwise whose images
	// stay: after that, observing tells whether they run.
	Notice time.Duration
}

// DefaultPatience suffices for virtual machines, and for metal that tests its memory.
func DefaultPatience() Patience {
	return Patience{Every: 5 * time.Second, Reboot: 15 * time.Minute, Healthy: 15 * time.Minute, Notice: 30 * time.Second}
}

// Simulated is the patience with nodes of a simulator whose time is real: they notice within
// two seconds what takes real ones half a minute.
func (p Patience) Simulated() Patience {
	p.Notice = 3 * time.Second
	return p
}
