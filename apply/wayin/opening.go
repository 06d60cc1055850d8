package wayin

import (
	"net/netip"
	"time"
)

// Opening asks for access that stays open after its run.
type Opening struct {
	Lasts time.Duration
	// From where; empty: the public addresses of this machine.
	From []netip.Prefix
}
