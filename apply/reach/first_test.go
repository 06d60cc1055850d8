package reach

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// network is machines by their addresses: how long each takes to answer, and
// whether it refuses. Who is not there never answers.
type network struct {
	machines map[string]machine

	mu    sync.Mutex
	asked []string
	open  int // connections
}

type machine struct {
	after   time.Duration
	refuses bool
}

func (n *network) Dial(ctx context.Context, address string) (net.Conn, error) {
	n.mu.Lock()
	n.asked = append(n.asked, address)
	m, found := n.machines[address]
	n.mu.Unlock()
	if !found {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	<-time.After(m.after)
	if m.refuses {
		return nil, errors.New(address + " refuses")
	}
	n.count(1)
	return &counted{network: n, address: address}, nil
}

func (n *network) count(d int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open += d
}

// counted is a connection that carries nothing.
type counted struct {
	net.Conn
	network *network
	address string
}

func (c *counted) Close() error {
	c.network.count(-1)
	return nil
}

// TestFirst: one that is switched off holds nobody up, one that refuses even less;
// of those that are too late no connection is left.
func TestFirst(t *testing.T) {
	slow, late := 3*nextAfter/2, 8*nextAfter
	for _, tt := range []struct {
		name      string
		machines  map[string]machine
		addresses string
		within    time.Duration
		asked     string
		want      string // an address, or what the error says
	}{
		{"the first answers", map[string]machine{"a": {}, "b": {}}, "a b", 0, "a", "a"},
		{"the first is off", map[string]machine{"b": {}}, "a b c", nextAfter, "a b", "b"},
		{"two are off", map[string]machine{"c": {}}, "a b c", 2 * nextAfter, "a b c", "c"},
		{"the first refuses", map[string]machine{"a": {refuses: true}, "b": {}}, "a b", 0, "a b", "b"},
		{"all refuse", map[string]machine{"a": {refuses: true}, "b": {refuses: true}}, "a b", 0, "a b", "a refuses\nb refuses"},
		{"a single one is slow", map[string]machine{"a": {after: late}}, "a", late, "a", "a"},
		{"the first is slow, and still the first", map[string]machine{"a": {after: slow}, "b": {after: late}}, "a b", slow, "a b", "a"},
		{"the first is too slow", map[string]machine{"a": {after: late}, "b": {}}, "a b", nextAfter, "a b", "b"},
		{"nobody answers in time", nil, "a b", ConnectWithin, "a b", "a: does not answer\nb: does not answer"},
		{"one refuses, and one does not answer in time", map[string]machine{"a": {refuses: true}}, "a b", ConnectWithin, "a b", "a refuses\nb: does not answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network{machines: tt.machines}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				begin := time.Now()
				conn, err := new(Favourite).First(ctx, n, strings.Fields(tt.addresses))
				took, got, open := time.Since(begin), "", 0
				if err != nil {
					got = strings.ReplaceAll(err.Error(), silentHint, "")
				} else {
					got, open = conn.(*counted).address, 1
				}
				if got != tt.want || took != tt.within || !slices.Equal(n.asked, strings.Fields(tt.asked)) {
					t.Errorf("%q after %v, asked %v", got, took, n.asked)
				}
				<-time.After(late) // those that are too late have come
				synctest.Wait()
				if n.open != open {
					t.Errorf("%d connections are left, want %d", n.open, open)
				}
			})
		})
	}
}

// silentHint follows what is said of an address that does not answer.
const silentHint = "\n  is it running, and does its firewall let you in?"

// TestFirstInterrupted: who gives up is told that, and not that nobody answers.
func TestFirstInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := new(Favourite).First(ctx, &network{}, []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// TestFavourite: one that is switched off costs half a second once, and who answered
// last is left as soon as somebody else has to.
func TestFavourite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{machines: map[string]machine{"b": {}, "c": {}}}
		var f Favourite
		for i, tt := range []struct {
			want   string
			within time.Duration
		}{{"b", nextAfter}, {"b", 0}, {"c", 0}, {"c", 0}} {
			if i == 2 {
				n.machines["b"] = machine{refuses: true}
				n.machines["a"] = machine{refuses: true}
			}
			begin := time.Now()
			conn, err := f.First(t.Context(), n, []string{"a", "b", "c"})
			if err != nil || conn.(*counted).address != tt.want || time.Since(begin) != tt.within {
				t.Errorf("%d: %v after %v, %v", i, conn, time.Since(begin), err)
			}
		}
		if got := strings.Join(n.asked, " "); got != "a b b b a c c" {
			t.Errorf("asked %s", got)
		}
	})
}
