package apply

import "context"

// lock is the right to change a cluster: a firewall at Hetzner Cloud, or a Lease in
// Kubernetes for machines that exist already.
type lock interface {
	// Keep renews it if it is time, and fails once it is somebody else's.
	Keep(ctx context.Context) error
	// Release gives it back.
	Release(ctx context.Context) error
}

// heldLock is the lock while a run holds it.
type heldLock struct {
	lock     lock // nil: there is none
	changing bool // the run may change something, and waits for what it has disturbed
}

// keep renews the lock, and fails once it is somebody else's.
func (h *heldLock) keep(ctx context.Context) error {
	if h.lock == nil {
		return ctx.Err()
	}
	return h.lock.Keep(ctx)
}
