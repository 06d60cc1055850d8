package cloud

import (
	"sync"

	"github.com/talosgen/talosgen/internal/secret"
)

// Budgets are the rate limits of projects, for clients that run at once: Hetzner
// counts the requests of a project, whichever of them makes these. The zero value is
// ready to use.
type Budgets struct {
	mu sync.Mutex
	of map[project]*limiter
}

// project is what a rate limit is of. A project may have several tokens, of which
// nothing tells that they belong together: each then learns from the answers alone
// what the others use.
type project struct {
	endpoint string
	token    secret.String
}

// limiter is the budget of the project that options lead to; without budgets, one of
// its own.
func (b *Budgets) limiter(o Options) *limiter {
	if b == nil {
		return &limiter{clock: o.Clock}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	of := project{o.Endpoint, o.Token}
	if b.of[of] == nil {
		if b.of == nil {
			b.of = map[project]*limiter{}
		}
		b.of[of] = &limiter{clock: o.Clock}
	}
	return b.of[of]
}
