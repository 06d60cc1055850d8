package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/sim/quietclock"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// stopsVariable has the moments at which the tested talosgen stops the time of its
// simulation, as JSON. It tells of each by the bell of its terminal, and goes on when its
// third file has a line for it, or when it is interrupted.
const stopsVariable = "TALOSGEN_TEST_STOPS"

// stop is such a moment: an event that has come so many times.
type stop struct {
	Stage, Step string
	State       progress.State
	Text        string // that the event's begins with
	Times       int    // 0 is once
}

// is reports whether the stop is about an event.
func (s stop) is(e progress.Event) bool {
	return s.Stage == e.Stage && s.Step == e.Step && s.State == e.State && strings.HasPrefix(e.Text, s.Text)
}

// onTerminalMain is talosgen with an environment in a simulation, as `try` makes one,
// whose time moves only when it waits and stands still at stops.
func onTerminalMain() {
	w := systemApp()
	h := &halts{now: time.Now()}
	if err := json.Unmarshal([]byte(os.Getenv(stopsVariable)), &h.stops); err != nil {
		fmt.Fprintln(os.Stderr, stopsVariable, err)
		os.Exit(2)
	}
	h.listen(os.NewFile(3, "go on"))
	w.clock = clock{func() time.Time { return h.now }, h.sleep}
	w.hears, w.random = h.hear, evenly{rand.Reader}
	if os.Args[1] == nameTry {
		os.Exit(run(os.Args, w))
	}
	c := cli.NewContext(cli.NewApp(), flag.NewFlagSet("", flag.ContinueOnError), nil)
	c.Context = context.Background()
	site, err := newTrySite(c, w, os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	code := before(*w, site)
	if code == 0 {
		code = run(os.Args, site.app(w))
	}
	site.close()
	os.Exit(code)
}

// evenly is a source of randomness by which pauses are as long as any other time.
type evenly struct{ io.Reader }

// Read reads; as many bytes as [jitter] does are the same each time.
func (e evenly) Read(p []byte) (int, error) {
	if len(p) != 8 {
		return e.Reader.Read(p)
	}
	for i := range p {
		p[i] = 0x80
	}
	return len(p), nil
}

// beforeVariable is a command that runs on the simulation before, unseen.
const beforeVariable = "TALOSGEN_TEST_BEFORE"

// before runs it.
func before(w app, site *trySite) int {
	args := strings.Fields(os.Getenv(beforeVariable))
	if len(args) == 0 {
		return 0
	}
	w.hears = nil
	w.console = console{stdin: os.Stdin, stdout: io.Discard, size: w.console.size, page: w.console.page, masker: w.console.masker}
	var said bytes.Buffer
	w.console.stderr = &said
	code := run(append(os.Args[:1:1], args...), site.app(&w))
	_ = site.clock.Sleep(context.Background(), talossim.DefaultTiming().Boot) // until its servers have started
	if code != 0 {
		_, _ = said.WriteTo(os.Stderr)
	}
	return code
}

// halts stops time.
type halts struct {
	now time.Time // outside

	mu     sync.Mutex
	stops  []stop
	times  int
	halted chan struct{} // closed when time goes on; nil: it does
}

// listen lets time go on when a line or an interrupt comes.
func (h *halts) listen(resume *os.File) {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	lines := make(chan struct{})
	go func() {
		for s := bufio.NewScanner(resume); s.Scan(); {
			lines <- struct{}{}
		}
	}()
	go func() {
		for {
			select {
			case <-interrupted:
			case <-lines:
			}
			h.goOn()
		}
	}()
}

func (h *halts) goOn() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.halted != nil {
		close(h.halted)
		h.halted = nil
	}
}

// hear stops time at an event. Whoever works goes on until nobody does.
func (h *halts) hear(e progress.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.stops) == 0 || !h.stops[0].is(e) {
		return
	}
	if h.times++; h.times < h.stops[0].Times {
		return
	}
	h.stops, h.times = h.stops[1:], 0
	h.halted = make(chan struct{})
	go h.tellQuiet()
}

// quietFor is how many looks in a row must find nobody at work.
const quietFor = 100

// tellQuiet rings when time stands still and nobody works any more: everything was
// written then that there is to see.
func (h *halts) tellQuiet() {
	busy := quietclock.Busy()
	for quiet := 0; quiet < quietFor; quiet++ {
		if busy() {
			quiet = 0
		}
		_ = sleepFor(context.Background(), time.Millisecond)
	}
	fmt.Fprint(os.Stderr, "\a")
}

// slowly is how many times longer the simulated clock waits between two looks than it
// does elsewhere: whom a busy machine is about to wake seems to wait, and a screen shows
// each half of a second.
const slowly = 10

// sleep is the pause between two looks of the simulated clock, which is all that waits
// for the time outside.
func (h *halts) sleep(ctx context.Context, d time.Duration) error {
	h.mu.Lock()
	halted := h.halted
	h.mu.Unlock()
	if halted != nil {
		<-halted
	}
	return sleepFor(ctx, slowly*d)
}
