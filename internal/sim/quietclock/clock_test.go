package quietclock

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// real is the time outside.
func real() Outside { return Outside{Now: time.Now, Pause: pause} }

func pause(d time.Duration) { <-time.After(d) }

// TestJump: those who wait are woken up in the order of their moments, each at
// its own, without anybody waiting outside.
func TestJump(t *testing.T) {
	c := New(start, real())
	var mu sync.Mutex
	var woken []time.Duration
	var all sync.WaitGroup
	for _, d := range []time.Duration{3 * time.Hour, time.Second, 2 * time.Minute, time.Second, 0} {
		all.Go(func() {
			if err := c.Sleep(t.Context(), d); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			woken = append(woken, c.Now().Sub(start))
		})
	}
	all.Wait()
	if want := []time.Duration{0, time.Second, time.Second, 2 * time.Minute, 3 * time.Hour}; !slices.Equal(woken, want) {
		t.Errorf("woken after %v, want %v", woken, want)
	}
}

// TestWork: no time passes while something goes back and forth, though nobody
// seems to work.
func TestWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(start, Outside{Now: time.Now, Pause: pause, Busy: func() bool { return false }})
		here, there := net.Pipe()
		conn, err := c.Watch(listener{there}).Accept()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for b := make([]byte, 1); ; pause(pollEvery) {
				if _, err := io.ReadFull(conn, b); err != nil {
					return
				}
				_, _ = conn.Write(b)
			}
		}()
		ctx, cancel := context.WithCancel(t.Context())
		waited := make(chan error)
		go func() { waited <- c.Sleep(ctx, time.Second) }()
		for range 1000 {
			_, _ = here.Write([]byte{1})
			_, _ = io.ReadFull(here, make([]byte, 1))
		}
		if passed := c.Now().Sub(start); passed > 0 {
			t.Errorf("%s passed", passed)
		}
		_ = here.Close()
		if err := <-waited; err != nil || c.Now().Sub(start) != time.Second {
			t.Errorf("afterwards: %v at %s", err, c.Now())
		}
		cancel()
	})
}

// listener has one connection.
type listener struct{ net.Conn }

func (l listener) Accept() (net.Conn, error) { return l.Conn, nil }
func (l listener) Addr() net.Addr            { return l.LocalAddr() }

// TestRestless: on a machine that never rests, time passes as outside.
func TestRestless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(start, Outside{Now: time.Now, Pause: pause, Busy: func() bool { return true }})
		before := time.Now()
		if err := c.Sleep(t.Context(), 3*time.Second); err != nil {
			t.Fatal(err)
		}
		if passed := time.Since(before); passed < 3*time.Second || passed > 3*time.Second+2*patience {
			t.Errorf("%s have passed outside", passed)
		}
	})
}

// TestInterrupt: who waits with a context that ends waits no longer.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := New(start, real())
	if err := c.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) || !c.Now().Equal(start) {
		t.Errorf("%v at %s", err, c.Now())
	}
}
