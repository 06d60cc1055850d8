// Package turn lets one at a time do what takes as long as calls over a network do.
// Unlike for a mutex, who waits for its turn can be interrupted.
package turn

import (
	"context"
	"sync"
)

// Turn is taken by one at a time. The zero Turn is free; it must not be copied once it
// was used.
type Turn struct {
	once  sync.Once
	taken chan struct{}
}

// Take waits until nobody has the turn, or returns the error of the context when that
// ends before. Who has taken it gives it back by a call of leave.
func (t *Turn) Take(ctx context.Context) (leave func(), err error) {
	t.once.Do(func() { t.taken = make(chan struct{}, 1) })
	select {
	case t.taken <- struct{}{}:
		return func() { <-t.taken }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
