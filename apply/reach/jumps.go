package reach

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

// Jumps connects through one of several bastions that lead to the same nodes: through the
// first that lets one in, and from then on through that one. Each has its own host key.
// It may be used by several goroutines at once.
type Jumps struct {
	all []*Jump

	mu   sync.Mutex
	last *Jump // that let one in last
}

// NewJumps prepares to go through bastions, in the order in which they are tried. There
// must be at least one. It makes no connection yet.
func NewJumps(through Transport, bastions ...Bastion) (*Jumps, error) {
	j := &Jumps{}
	for _, b := range bastions {
		jump, err := NewJump(b, through)
		if err != nil {
			return nil, err
		}
		j.all = append(j.all, jump)
	}
	return j, nil
}

// Dial connects through a bastion.
func (j *Jumps) Dial(ctx context.Context, address string) (net.Conn, error) {
	if len(j.all) == 1 {
		return j.all[0].Dial(ctx, address)
	}
	jump, err := j.open(ctx)
	if err != nil {
		return nil, err
	}
	return jump.Dial(ctx, address)
}

// Ready connects to a bastion, as [Jump.Ready] does.
func (j *Jumps) Ready(ctx context.Context) error {
	_, err := j.open(ctx)
	return err
}

// Close ends the connections to all of them, and with it all that go through them.
func (j *Jumps) Close() error {
	var problems diag.List
	for _, jump := range j.all {
		problems.AddErr(jump.Close())
	}
	return problems.Err()
}

// open is a bastion that lets one in. The next one is tried too as soon as one has
// refused, or has not answered for half a second, as for addresses in [Favourite.First].
func (j *Jumps) open(ctx context.Context) (*Jump, error) {
	type answer struct {
		of  int
		err error
	}
	order := j.order()
	answers := make(chan answer, len(order))
	next := time.NewTimer(0)
	defer next.Stop()
	problems := make([]error, len(order))
	for asked, failed := 0, 0; failed < len(order); {
		select {
		case <-next.C:
			if asked < len(order) {
				i := asked
				go func() { answers <- answer{i, order[i].Ready(ctx)} }()
				asked++
				next.Reset(nextAfter)
			}
		case a := <-answers:
			if a.err == nil {
				j.mu.Lock()
				defer j.mu.Unlock()
				j.last = order[a.of]
				return j.last, nil
			}
			problems[a.of] = a.err
			failed++
			next.Reset(0)
		}
	}
	return nil, whyNone(problems)
}

// order is that in which they are tried.
func (j *Jumps) order() []*Jump {
	j.mu.Lock()
	defer j.mu.Unlock()
	if i := slices.Index(j.all, j.last); i > 0 {
		return append([]*Jump{j.last}, slices.Delete(slices.Clone(j.all), i, i+1)...)
	}
	return j.all
}

// whyNone says why none of them lets one in. Where another try may change something about
// one, what is for good about the others is not told: see [Refused].
func whyNone(problems []error) error {
	var all, again diag.List
	for _, err := range problems {
		all.AddErr(err)
		if !Refused(err) {
			again.AddErr(err)
		}
	}
	if err := again.Err(); err != nil {
		return err
	}
	return all.Err()
}
