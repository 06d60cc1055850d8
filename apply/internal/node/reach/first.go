package reach

import (
	"context"
	"errors"
	"net"
	"time"
)

// nextAfter is how long an address may take to answer before the next one is
// tried too. A machine that is switched off never answers, and whoever waits for
// another one may not have as long as it takes to find that out.
const nextAfter = 500 * time.Millisecond

// First connects to the first of several addresses that accepts. They are tried in
// their order: the next one as soon as one has refused, or has not answered for
// half a second, as in RFC 8305, section 5. There must be at least one.
func First(ctx context.Context, through Transport, addresses []string) (net.Conn, error) {
	type answer struct {
		conn net.Conn
		err  error
	}
	answers := make(chan answer)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ask := func(address string) {
		conn, err := through.Dial(ctx, address)
		select {
		case answers <- answer{conn, err}:
		case <-ctx.Done(): // another one was faster
			if err == nil {
				_ = conn.Close()
			}
		}
	}
	next := time.NewTimer(0)
	defer next.Stop()
	var problems []error
	for asked := 0; len(problems) < len(addresses); {
		select {
		case <-next.C:
			if asked < len(addresses) {
				go ask(addresses[asked])
				asked++
				next.Reset(nextAfter)
			}
		case a := <-answers:
			if a.err == nil {
				return a.conn, nil
			}
			problems = append(problems, a.err)
			next.Reset(0)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, errors.Join(problems...)
}
