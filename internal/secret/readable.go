package secret

import (
	"bytes"
	"fmt"
	"sync"
)

// Readable is what stands in the clear for everybody who can read a repository:
// sources, what was rendered of them, the names of files and objects. Hiding a
// value that is in there hides nothing, and damages text. A nil Readable is
// empty. It is safe for concurrent use.
type Readable struct {
	mu    sync.Mutex
	texts [][]byte
	holds map[string]bool // of what was asked
}

// Add adds texts. It keeps them, so nobody may change them any more.
func (r *Readable) Add(texts ...[]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts, r.holds = append(r.texts, texts...), nil
}

// Holds reports whether a value stands in the texts, as it is.
func (r *Readable) Holds(value string) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	holds, asked := r.holds[value]
	if asked {
		return holds
	}
	for _, text := range r.texts {
		if holds = bytes.Contains(text, []byte(value)); holds {
			break
		}
	}
	if r.holds == nil {
		r.holds = map[string]bool{}
	}
	r.holds[value] = holds
	return holds
}

// Format prints [Mask]: what was asked for may be secret.
func (r *Readable) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(Mask)) }
