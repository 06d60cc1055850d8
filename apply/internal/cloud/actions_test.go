package cloud

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/diag"
)

// script answers polls: an action ends at the poll that has its number.
type script struct {
	mu    sync.Mutex
	polls int
	asked [][]int64
	ends  map[int64]int
	fails map[int64]string
	err   error // of every poll, if set
}

func (s *script) list(_ context.Context, ids []int64) (found []*hcloud.Action, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polls++
	s.asked = append(s.asked, ids)
	for _, id := range ids {
		end, known := s.ends[id]
		a := &hcloud.Action{ID: id, Status: hcloud.ActionStatusRunning}
		switch {
		case !known:
			continue
		case s.polls >= end && s.fails[id] != "":
			a.Status, a.ErrorCode, a.ErrorMessage = hcloud.ActionStatusError, s.fails[id], "it failed"
		case s.polls >= end:
			a.Status = hcloud.ActionStatusSuccess
		}
		found = append(found, a)
	}
	return found, s.err
}

func scriptedWaiter(s *script) (*waiter, *scriptedClock) {
	clock := newClock()
	w := newWaiter(clock, nil)
	w.list = s.list
	return w, clock
}

func running(ids ...int64) (actions []*hcloud.Action) {
	for _, id := range ids {
		actions = append(actions, &hcloud.Action{ID: id, Status: hcloud.ActionStatusRunning})
	}
	return actions
}

func TestWaitForActions(t *testing.T) {
	s := &script{ends: map[int64]int{1: 1, 2: 4}}
	w, clock := scriptedWaiter(s)
	ended := &hcloud.Action{ID: 3, Status: hcloud.ActionStatusSuccess}
	if err := w.wait(context.Background(), append(running(1, 2), nil, ended)...); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(s.asked), "[[1 2] [2] [2] [2]]"; got != want {
		t.Errorf("asked about %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(clock.slept), "[1s 1s 2s 4s]"; got != want {
		t.Errorf("slept %s, want %s", got, want)
	}
}

func TestFailedAction(t *testing.T) {
	for _, tt := range []struct {
		name    string
		actions []*hcloud.Action
		script  *script
		want    string
	}{
		{
			"it fails while we wait", running(1, 2),
			&script{ends: map[int64]int{1: 1, 2: 2}, fails: map[int64]string{2: "placement_error"}},
			"it failed (placement_error)",
		},
		{
			"it had failed", []*hcloud.Action{{ID: 1, Status: hcloud.ActionStatusError, ErrorCode: "x", ErrorMessage: "it had failed"}},
			&script{},
			"it had failed (x)",
		},
		{"it is unknown", running(1), &script{}, "action 1: Hetzner does not know it any more"},
		{"the poll fails", running(1), &script{ends: map[int64]int{1: 1}, err: errors.New("no")}, "no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, _ := scriptedWaiter(tt.script)
			err := w.wait(context.Background(), tt.actions...)
			if err == nil || hcloud.StabilizeError(err).Error() != tt.want && !hasText(err, tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

func hasText(err error, want string) bool {
	var a hcloud.ActionError
	return errors.As(err, &a) && fmt.Sprintf("%s (%s)", a.Message, a.Code) == want
}

func TestActionNeverEnds(t *testing.T) {
	s := &script{ends: map[int64]int{1: 1 << 30}}
	w, clock := scriptedWaiter(s)
	err := w.wait(context.Background(), running(1)...)
	if err == nil || clock.total() < actionTimeout || clock.total() > actionTimeout+time.Minute {
		t.Errorf("waited %s, %v", clock.total(), err)
	}
	if diag.CodeOf(err) != diag.NotReady {
		t.Errorf("exit %d", diag.CodeOf(err))
	}
	named := explain("server prod-worker-1", "start it", err)
	if want := "server prod-worker-1: start it: its action runs for more than 30m0s\n  " + hintAgain; named.Error() != want || diag.CodeOf(named) != diag.NotReady {
		t.Errorf("exit %d: %v", diag.CodeOf(named), named)
	}
}

func TestWaitIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w, _ := scriptedWaiter(&script{ends: map[int64]int{1: 1}})
	if err := w.wait(ctx, running(1)...); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// crowd is a clock that lets nobody sleep before everybody has come.
type crowd struct {
	*scriptedClock
	once sync.Once
	here func() bool
}

func (c *crowd) Sleep(ctx context.Context, d time.Duration) error {
	c.once.Do(func() {
		for !c.here() {
			runtime.Gosched()
		}
	})
	return c.scriptedClock.Sleep(ctx, d)
}

// TestWaitTogether: however many wait, and for however many actions, each poll
// asks for all of them at once, 50 in a call.
func TestWaitTogether(t *testing.T) {
	const waiters, each = 20, 6
	s := &script{ends: map[int64]int{}}
	for id := range int64(waiters * each) {
		s.ends[id+1] = 1 + int(id)
	}
	w, clock := scriptedWaiter(s)
	w.clock = &crowd{scriptedClock: clock, here: func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.running) == waiters*each
	}}
	var group sync.WaitGroup
	for i := range int64(waiters) {
		group.Go(func() {
			ids := make([]int64, each)
			for j := range ids {
				ids[j] = i*each + int64(j) + 1
			}
			if err := w.wait(context.Background(), running(ids...)...); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if len(w.running) != 0 {
		t.Errorf("still waiting for %v", w.running)
	}
	if got := fmt.Sprint(len(s.asked[0]), len(s.asked[1]), len(s.asked[2])); got != "50 50 20" {
		t.Errorf("asked for %s at first", got)
	}
	// Alone, each would ask about its own until the last of them ends.
	if s.polls > 2*waiters*each {
		t.Errorf("%d polls", s.polls)
	}
}
