package quietclock

import "runtime/metrics"

// What the runtime tells about goroutines that have something to do.
const (
	running  = "/sched/goroutines/running:goroutines"
	runnable = "/sched/goroutines/runnable:goroutines"
)

// Busy reports whether any goroutine of this process but the caller's works, or
// could. One that waits in the kernel does not count: it waits for somebody
// outside, or for a connection to somebody within.
func Busy() bool {
	samples := []metrics.Sample{{Name: running}, {Name: runnable}}
	metrics.Read(samples)
	var working uint64
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			working += s.Value.Uint64()
		}
	}
	return working > 1
}
