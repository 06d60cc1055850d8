package quietclock

import (
	"runtime/metrics"
	"slices"
)

// What the runtime tells about goroutines that have something to do.
const (
	running  = "/sched/goroutines/running:goroutines"
	runnable = "/sched/goroutines/runnable:goroutines"
	inKernel = "/sched/goroutines/not-in-go:goroutines"
)

// Busy returns a function that reports whether any goroutine of this process but the
// caller's works, or could. One that waits for a connection does not count: it waits
// for a program outside, or for a goroutine within. One that is in a call of the kernel
// counts until it has been there for as long as [window]: on a busy machine its thread
// may wait for a processor there, in the middle of its work.
func Busy() func() bool {
	var k kernelCalls
	samples := []metrics.Sample{{Name: running}, {Name: runnable}, {Name: inKernel}}
	return func() bool {
		metrics.Read(samples)
		inside := k.recent(count(samples[2]))
		return count(samples[0])+count(samples[1]) > 1 || inside
	}
}

// count is the value of a sample; 0 if the runtime does not have it.
func count(s metrics.Sample) uint64 {
	if s.Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s.Value.Uint64()
}

// window is how many samples back is recent: a tenth of a second, by [pollEvery].
const window = 200

// kernelCalls are how many goroutines were in a call of the kernel, by the last samples.
// Some stay there, such as the one that waits for the end of a child.
type kernelCalls struct{ last []uint64 }

// recent adds a sample, and reports whether one of them has entered lately.
func (k *kernelCalls) recent(now uint64) bool {
	k.last = append(k.last, now)
	if len(k.last) > window {
		k.last = slices.Delete(k.last, 0, len(k.last)-window)
	}
	return now > slices.Min(k.last)
}
