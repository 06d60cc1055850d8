package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	progressEvery = 15 * time.Second
	tailLines     = 30
)

// lineWriter lets several goroutines write lines, each in one call, to a
// writer that is for one.
type lineWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write writes one line or several.
func (w *lineWriter) Write(lines []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.to.Write(lines)
}

// progress reads the output of go build -v, one line for each package that
// is compiled, and says from time to time how far it is.
type progress struct {
	out   io.Writer
	title string
	start time.Time
	done  chan struct{}
	ended sync.WaitGroup

	mu      sync.Mutex
	partial []byte
	lines   []string // the last ones
	count   int
}

func newProgress(out io.Writer, title string) *progress {
	p := &progress{out: out, title: title, start: time.Now(), done: make(chan struct{})}
	fmt.Fprintf(out, "%s: building\n", title)

	p.ended.Go(func() {
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()

		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(out, "%s: %s\n", title, p.status())
			case <-p.done:
				return
			}
		}
	})

	return p
}

// Write takes the output of the go command.
func (p *progress) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.partial = append(p.partial, data...)

	for {
		line, rest, found := bytes.Cut(p.partial, []byte("\n"))
		if !found {
			return len(data), nil
		}

		p.lines = append(p.lines, string(line))
		if len(p.lines) > tailLines {
			p.lines = slices.Delete(p.lines, 0, 1)
		}

		p.partial = rest
		p.count++
	}
}

func (p *progress) status() string {
	p.mu.Lock()
	defer p.mu.Unlock()

	return fmt.Sprintf("%d packages compiled, %s", p.count, time.Since(p.start).Round(time.Second))
}

// stop ends the reports.
func (p *progress) stop() {
	close(p.done)
	p.ended.Wait()
}

// tail returns the last lines of the output, to explain a failure.
func (p *progress) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()

	return strings.Join(append(slices.Clone(p.lines), string(p.partial)), "\n")
}
