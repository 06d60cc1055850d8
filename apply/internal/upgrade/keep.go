package upgrade

import (
	"context"
	"sync"
	"time"
)

// keepEvery is how often the lock is kept during a call. It is real time, as calls
// take it.
const keepEvery = 20 * time.Second

// keeping makes a call that may take long, and keeps the lock meanwhile. The call
// ends early when the lock is lost.
func (u *Upgrade) keeping(ctx context.Context, call func(context.Context) error) error {
	within, end := context.WithCancelCause(ctx)
	var renewal sync.WaitGroup
	renewal.Go(func() {
		tick := time.NewTicker(keepEvery)
		defer tick.Stop()
		for {
			select {
			case <-within.Done():
				return
			case <-tick.C:
				if err := u.Keep(within); err != nil {
					end(err)
					return
				}
			}
		}
	})
	err := call(within)
	lost := context.Cause(within)
	end(nil)
	renewal.Wait()
	if lost != nil && ctx.Err() == nil {
		return lost
	}
	return err
}
