package secret

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Masker replaces secrets in text by [Mask]: as they are, encoded, broken into
// lines, and cut off at the end where enough is left of them. What it takes for
// a secret is what [String.Recognisable] says, unless it stands readable. It is
// safe for concurrent use.
type Masker struct {
	readable Readable
	mu       sync.RWMutex
	known    map[String]bool
	pieces   map[string][]piece // by their first [shortest] bytes
}

// piece is one way in which a message may spell a secret, or one line of it.
type piece struct {
	text string
	of   string // what it spells
	cut  int    // from how many of its bytes on a beginning of it cannot be guessed
}

// NewMasker returns a masker that knows no secret yet.
func NewMasker() *Masker {
	return &Masker{known: map[String]bool{}, pieces: map[string][]piece{}}
}

// Format prints [Mask] whatever the verb: a masker holds all secrets there are.
func (m *Masker) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(Mask)) }

// Readable is what stands readable, and so is not masked.
func (m *Masker) Readable() *Readable { return &m.readable }

// Add makes the masker know secrets, and the lines of those that have several.
func (m *Masker) Add(secrets ...String) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range secrets {
		if m.known[s] {
			continue
		}
		m.known[s] = true
		for _, text := range append(lines(s.Reveal()), s.Reveal(), strings.TrimSpace(s.Reveal())) {
			if recognisable(text) {
				m.add(text)
			}
		}
	}
}

func (m *Masker) add(secret string) {
	guess := guessable
	if strings.HasPrefix(secret, frame) {
		guess = max(guess, strings.IndexByte(secret+"\n", '\n'))
	}
	for _, form := range forms(secret) {
		if len(form) < shortest {
			continue
		}
		p := piece{form, secret, guess*len(form)/len(secret) + 1}
		key := form[:shortest]
		if !slices.Contains(m.pieces[key], p) {
			m.pieces[key] = append(m.pieces[key], p)
		}
	}
}

// String returns text with every known secret masked, and every beginning of one
// that is too long to be guessed.
func (m *Masker) String(text string) string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.pieces) == 0 || len(text) < shortest {
		return text
	}
	hidden := make([]bool, len(text))
	found := false
	for _, v := range views(text) {
		for i := 0; i+shortest <= len(v.text); {
			n := m.match(v.text[i:])
			if n == 0 {
				i++
				continue
			}
			from, to := v.place(i, i+n)
			mark(hidden, from, to)
			found = true
			i += n
		}
	}
	if !found {
		return text
	}
	return masked(text, hidden)
}

// match returns how many bytes at the start of text belong to a secret.
func (m *Masker) match(text string) int {
	longest := 0
	for _, p := range m.pieces[text[:shortest]] {
		n := shortest
		for n < len(p.text) && n < len(text) && p.text[n] == text[n] {
			n++
		}
		if n > longest && (n == len(p.text) || n >= p.cut) && !m.readable.Holds(p.of) && !m.readable.Holds(text[:n]) {
			longest = n
		}
	}
	return longest
}

// mark marks a range.
func mark(hidden []bool, from, to int) {
	for i := from; i < to; i++ {
		hidden[i] = true
	}
}

// masked replaces each range that is marked by a [Mask].
func masked(text string, hidden []bool) string {
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !hidden[i]:
			b.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			b.WriteString(Mask)
		}
	}
	return b.String()
}

// Writer returns a writer that masks what passes through. Each Write is masked
// by itself, so callers write whole messages.
func (m *Masker) Writer(w io.Writer) io.Writer { return &maskingWriter{m, w} }

type maskingWriter struct {
	masker *Masker
	w      io.Writer
}

func (w *maskingWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, w.masker.String(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
