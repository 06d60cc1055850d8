package turn

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestTurn: one at a time has it, all get it, and who is interrupted waits no longer.
func TestTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turn Turn
		var all sync.WaitGroup
		begin := time.Now()
		for range 5 {
			all.Go(func() {
				leave, err := turn.Take(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				<-time.After(time.Second)
				leave()
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		if _, err := turn.Take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("interrupted: %v", err)
		}
		all.Wait()
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("five turns of a second took %s", took)
		}
		if leave, err := turn.Take(t.Context()); err != nil {
			t.Errorf("afterwards: %v", err)
		} else {
			leave()
		}
	})
}
