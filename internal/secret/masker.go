package secret

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
)

// shortest is the length in bytes from which a piece of a secret is masked in
// foreign text. Shorter pieces would mask ordinary words; values that short
// are masked where their place is known, not here.
const shortest = 6

// Masker replaces secrets in text by [Mask]: as they are, JSON-escaped, in
// base64 (also as part of a longer base64 text), and cut off at the end, as
// the messages of YAML decoders do. It is safe for concurrent use.
type Masker struct {
	mu     sync.RWMutex
	known  map[string]bool
	prefix map[string][]string // by the first [shortest] bytes
}

// NewMasker returns a masker that knows no secret yet.
func NewMasker() *Masker {
	return &Masker{known: map[string]bool{}, prefix: map[string][]string{}}
}

// Format prints [Mask] whatever the verb: a masker holds all secrets there are.
func (m *Masker) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(Mask)) }

// Add makes the masker know secrets. Each line of a secret counts as a secret.
func (m *Masker) Add(secrets ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range secrets {
		if m.known[s] {
			continue
		}
		m.known[s] = true
		m.addForms(s)
		for line := range strings.Lines(s) {
			m.addForms(strings.TrimSpace(line))
		}
	}
}

func (m *Masker) addForms(s string) {
	if len(s) < shortest {
		return
	}
	m.addPiece(s)
	if quoted, err := json.Marshal(s); err == nil {
		m.addPiece(strings.Trim(string(quoted), `"`))
	}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		m.addPiece(enc.EncodeToString([]byte(s)))
	}
	// Inside a longer base64 text a secret can start at any of three
	// alignments; the characters at its ends then depend on its neighbours.
	for shift := range 3 {
		padded := strings.Repeat("\x00", shift) + s
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString([]byte(padded))
			start, end := (shift*8+5)/6, len(padded)*8/6
			m.addPiece(text[start:end])
		}
	}
}

func (m *Masker) addPiece(s string) {
	if len(s) < shortest {
		return
	}
	key := s[:shortest]
	for _, have := range m.prefix[key] {
		if have == s {
			return
		}
	}
	m.prefix[key] = append(m.prefix[key], s)
}

// String returns text with every known secret, and every beginning of one that
// is at least six bytes long, masked.
func (m *Masker) String(text string) string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.prefix) == 0 || len(text) < shortest {
		return text
	}
	var b strings.Builder
	start := 0
	for i := 0; i+shortest <= len(text); {
		n := m.match(text[i:])
		if n == 0 {
			i++
			continue
		}
		b.WriteString(text[start:i] + Mask)
		i += n
		start = i
	}
	if start == 0 {
		return text
	}
	b.WriteString(text[start:])
	return b.String()
}

// match returns how many bytes at the start of text belong to a secret.
func (m *Masker) match(text string) int {
	longest := 0
	for _, s := range m.prefix[text[:shortest]] {
		n := shortest
		for n < len(s) && n < len(text) && s[n] == text[n] {
			n++
		}
		longest = max(longest, n)
	}
	return longest
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
