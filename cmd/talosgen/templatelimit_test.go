package main

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Templates are given up when they take too long or too much, for people to read
// after "the templates of the chart x".
func TestBoundTemplates(t *testing.T) {
	for _, c := range []struct {
		name   string
		memory []uint64 // at first, and after each look; the last stays
		looks  int
		want   string
	}{
		{"time", []uint64{1 << 30}, 1200, "take more than 60 seconds"},
		{"memory", []uint64{1 << 20, 1 << 30, 1<<30 + 1<<20 + 1}, 2, "take more than 1 GiB of memory"},
		{"less than before", []uint64{1 << 40, 1 << 20}, 1200, "take more than 60 seconds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			looks, memory := 0, c.memory
			limit := templateLimit{
				clock: clock{sleep: func(context.Context, time.Duration) error { looks++; return nil }},
				memory: func() uint64 {
					now := memory[0]
					memory = memory[min(1, len(memory)-1):]
					return now
				},
			}
			ctx, cancel := limit.bound(t.Context())
			defer cancel()
			<-ctx.Done()
			if cause := context.Cause(ctx); cause.Error() != c.want || looks != c.looks {
				t.Errorf("%v after %d looks", cause, looks)
			}
		})
	}
}

// When a chart is done, nobody looks any more; and whoever interrupts is not
// told of templates.
func TestBoundTemplatesEnds(t *testing.T) {
	stopped := make(chan error)
	limit := templateLimit{memory: heapMemory, clock: clock{sleep: func(ctx context.Context, _ time.Duration) error {
		<-ctx.Done()
		stopped <- ctx.Err()
		return ctx.Err()
	}}}
	ctx, cancel := limit.bound(t.Context())
	cancel()
	if err := <-stopped; err == nil || !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Errorf("%v, %v", err, context.Cause(ctx))
	}
	if limit.memory() == 0 {
		t.Error("no memory is taken")
	}
}
