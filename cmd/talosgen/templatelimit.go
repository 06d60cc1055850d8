package main

import (
	"context"
	"fmt"
	"runtime/metrics"
	"time"
)

// What the templates of one chart may take. The largest in wide use take a
// second and some ten MiB.
const (
	templateTime   = time.Minute
	templateMemory = 1 << 30
	templatePoll   = 50 * time.Millisecond // how often memory is read
)

// templateLimit ends templates that take too long, or too much memory.
type templateLimit struct {
	clock  clock
	memory func() uint64
}

// bound returns a context that ends when templates have run for a
// minute, or when the program has taken 1 GiB more than before.
func (l templateLimit) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		before := l.memory()
		for range templateTime / templatePoll {
			if l.clock.sleep(ctx, templatePoll) != nil {
				return // done, or interrupted
			}
			if now := l.memory(); now > before && now-before > templateMemory {
				end(fmt.Errorf("take more than %d GiB of memory", templateMemory>>30))
				return
			}
		}
		end(fmt.Errorf("take more than %.0f seconds", templateTime.Seconds()))
	}()
	return ctx, func() { end(context.Canceled) }
}

// heapMemory is what the program has taken for its values, in bytes.
func heapMemory() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
