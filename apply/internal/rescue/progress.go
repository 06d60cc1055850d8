package rescue

import (
	"fmt"
	"strings"
	"sync"
)

// progressWriter takes what a rescue system says on stderr: lines of dd about
// its progress, which end with a carriage return, and others.
type progressWriter struct {
	notify func(bytes int64) error
	stop   func() // ends what goes on, if tell fails

	mu     sync.Mutex
	line   []byte
	other  string // the last line that is not about progress
	failed error
}

// maxLine keeps a stream without lines from filling the memory.
const maxLine = 4096

// Write takes in a piece of text.
func (p *progressWriter) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range text {
		if b != '\r' && b != '\n' {
			if len(p.line) < maxLine {
				p.line = append(p.line, b)
			}
			continue
		}
		p.take(string(p.line))
		p.line = p.line[:0]
	}
	return len(text), nil
}

func (p *progressWriter) take(line string) {
	var n int64
	switch count, _ := fmt.Sscanf(line, "%d bytes", &n); {
	case count == 1:
		if err := p.notify(n); err != nil && p.failed == nil {
			p.failed = err
			p.stop()
		}
	case strings.TrimSpace(line) != "" && !strings.Contains(line, "+") || strings.Contains(line, ": "):
		p.other = strings.TrimSpace(line)
	}
}

func (p *progressWriter) last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.other
}

func (p *progressWriter) err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}
