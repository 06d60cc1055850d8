package cloud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/diag"
)

const (
	firstPoll = time.Second
	mostPoll  = 8 * time.Second
	// pollSize is how many actions one call asks about: the most that a page
	// holds.
	pollSize = 50
	// actionTimeout is how long an action may take. Rescaling a server with a
	// large disk takes minutes.
	actionTimeout = 30 * time.Minute
)

// errStays is the error of an action that takes longer than any should.
var errStays = fmt.Errorf("its action runs for more than %s", actionTimeout)

// nameless is the object of a problem with an action while nobody has said what the
// action was for.
const nameless = "Hetzner Cloud"

// waiter waits for actions: those of everybody who waits, in one call. Whoever
// waits first polls for all; when it is done the next one takes over.
type waiter struct {
	clock Clock
	list  func(ctx context.Context, ids []int64) ([]*hcloud.Action, error)
	lead  chan struct{} // holds the place of the one that polls

	mu      sync.Mutex
	running map[int64]*pending
	quiet   int // polls since something was new
}

// pending is an action that somebody waits for.
type pending struct {
	done chan struct{} // closed when the result is there
	err  error
}

func newWaiter(clock Clock, api *hcloud.Client) *waiter {
	return &waiter{
		clock: clock,
		lead:  make(chan struct{}, 1),
		list: func(ctx context.Context, ids []int64) ([]*hcloud.Action, error) {
			found, _, err := api.Action.List(ctx, hcloud.ActionListOpts{
				ListOpts: hcloud.ListOpts{PerPage: pollSize}, ID: ids,
			})
			return found, err
		},
		running: map[int64]*pending{},
	}
}

// wait returns when all actions have ended: with the error of the first one,
// in the order given, that failed. Nil actions are ignored: calls that had
// nothing to do return some.
func (w *waiter) wait(ctx context.Context, actions ...*hcloud.Action) error {
	var own []*pending
	for _, a := range actions {
		if a != nil {
			own = append(own, w.add(a))
		}
	}
	until := w.clock.Now().Add(actionTimeout)
	for _, p := range own {
		if err := w.follow(ctx, p, until); err != nil {
			return err
		}
	}
	for _, p := range own {
		if p.err != nil {
			return p.err
		}
	}
	return nil
}

func (w *waiter) add(a *hcloud.Action) *pending {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.Status != hcloud.ActionStatusRunning {
		p := &pending{done: make(chan struct{}), err: a.Error()}
		close(p.done)
		return p
	}
	if w.running[a.ID] == nil {
		w.running[a.ID] = &pending{done: make(chan struct{})}
		w.quiet = 0
	}
	return w.running[a.ID]
}

// follow waits for one action, polling for all while nobody else does.
func (w *waiter) follow(ctx context.Context, p *pending, until time.Time) error {
	for {
		select {
		case <-p.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case w.lead <- struct{}{}:
		}
		err := w.poll(ctx, p)
		<-w.lead
		if err != nil {
			return err
		}
		if !p.ended() && w.clock.Now().After(until) {
			return diag.On(nameless, "%v", errStays).WithCode(diag.NotReady).WithHint(hintAgain).WithCause(errStays)
		}
	}
}

func (p *pending) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// poll waits a while and then asks about all actions, unless the one that it is
// made for has ended meanwhile.
func (w *waiter) poll(ctx context.Context, p *pending) error {
	if p.ended() {
		return nil
	}
	w.mu.Lock()
	pause := backoff(w.quiet, firstPoll, mostPoll, 1)
	w.quiet++
	w.mu.Unlock()
	if err := w.clock.Sleep(ctx, pause); err != nil {
		return err
	}
	w.mu.Lock()
	ids := slices.Sorted(maps.Keys(w.running))
	w.mu.Unlock()
	for chunk := range slices.Chunk(ids, pollSize) {
		found, err := w.list(ctx, chunk)
		if err != nil {
			return err
		}
		w.deliver(chunk, found)
	}
	return nil
}

// deliver hands out the results of the actions that were asked about.
func (w *waiter) deliver(asked []int64, found []*hcloud.Action) {
	w.mu.Lock()
	defer w.mu.Unlock()
	byID := map[int64]*hcloud.Action{}
	for _, a := range found {
		byID[a.ID] = a
	}
	for _, id := range asked {
		a, p := byID[id], w.running[id]
		if p == nil || a != nil && a.Status == hcloud.ActionStatusRunning {
			continue
		}
		if a == nil {
			p.err = diag.On(fmt.Sprintf("action %d", id), "Hetzner does not know it any more").WithCode(diag.Remote)
		} else {
			p.err = a.Error()
		}
		delete(w.running, id)
		w.quiet = 0
		close(p.done)
	}
}
