package reach

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// nextAfter is how long an address may take to answer before the next one is
// tried too. A machine that is switched off never answers, and whoever waits for
// another one may not have as long as it takes to find that out.
const nextAfter = 500 * time.Millisecond

// first connects to the first of several addresses that accepts, and says which it was.
func first(ctx context.Context, through Transport, addresses []string) (conn net.Conn, of int, err error) {
	type answer struct {
		conn net.Conn
		err  error
		of   int
	}
	answers := make(chan answer)
	within, cancel := context.WithTimeout(ctx, ConnectWithin)
	defer cancel()
	ask := func(i int) {
		conn, err := through.Dial(within, addresses[i])
		select {
		case answers <- answer{conn, err, i}:
		case <-within.Done(): // another one was faster
			if err == nil {
				_ = conn.Close()
			}
		}
	}
	next := time.NewTimer(0)
	defer next.Stop()
	problems := make([]error, len(addresses)) // by address
	for asked, refused := 0, 0; refused < len(addresses); {
		select {
		case <-next.C:
			if asked < len(addresses) {
				go ask(asked)
				asked++
				next.Reset(nextAfter)
			}
		case a := <-answers:
			if a.err == nil {
				return a.conn, a.of, nil
			}
			problems[a.of] = a.err
			refused++
			next.Reset(0)
		case <-within.Done():
			if ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			return nil, 0, noneAnswers(addresses, problems)
		}
	}
	return nil, 0, errors.Join(problems...)
}

// noneAnswers says why there is no connection to any of several addresses: those without
// a problem have not answered.
func noneAnswers(addresses []string, problems []error) error {
	for i, address := range addresses {
		if problems[i] == nil {
			problems[i] = unreachable(address, context.DeadlineExceeded)
		}
	}
	return errors.Join(problems...)
}

// Favourite remembers which address answered last, and asks it first: one that is
// switched off costs half a second once, and not with each connection. The zero value
// remembers none. It may be used by several goroutines at once.
type Favourite struct {
	mu   sync.Mutex
	last string
}

// First connects to the first of several addresses that accepts. They are tried in
// their order: the next one as soon as one has refused, or has not answered for
// half a second, as in RFC 8305, section 5. There must be at least one. All of them
// together have [ConnectWithin].
func (f *Favourite) First(ctx context.Context, through Transport, addresses []string) (net.Conn, error) {
	f.mu.Lock()
	last := f.last
	f.mu.Unlock()
	if i := slices.Index(addresses, last); i > 0 {
		addresses = append([]string{last}, slices.Delete(slices.Clone(addresses), i, i+1)...)
	}
	conn, of, err := first(ctx, through, addresses)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = addresses[of]
	return conn, nil
}
