package nodes

import (
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/reach"
)

// Clients are clients for nodes with their configuration. They keep what they are
// connected to, from one call to the next: each handshake costs a way through
// whatever leads to the nodes. The zero value has none. It may be used by several
// goroutines at once.
type Clients struct {
	mu  sync.Mutex
	now map[node.Target]kept
	// With certificates that were renewed since: somebody may use them still.
	past []*node.Client
}

type kept struct {
	*node.Client
	certificate string // that it shows
}

// client returns the one for a node, which is made if there is none, or if it
// shows another certificate.
func (k *Clients) client(t node.Target, through reach.Transport, c node.Credentials, now func() time.Time) (*node.Client, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	have, ok := k.now[t]
	if ok && have.certificate == string(c.Certificate) {
		return have.Client, nil
	}
	client, err := node.Connect(t, through, c, now)
	if err != nil {
		return nil, err
	}
	if ok {
		k.past = append(k.past, have.Client)
	}
	if k.now == nil {
		k.now = map[node.Target]kept{}
	}
	k.now[t] = kept{client, string(c.Certificate)}
	return client, nil
}

// Close ends all connections, and forgets the clients.
func (k *Clients) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.now {
		_ = c.Close() // nothing is under way
	}
	for _, c := range k.past {
		_ = c.Close()
	}
	k.now, k.past = nil, nil
}
