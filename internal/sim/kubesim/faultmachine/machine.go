package faultmachine

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// Clock is the time of the client.
type Clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
}

// Machine stands before an API, and lets a schedule strike.
type Machine struct {
	*faultgrammar.Striker[*Machine, faultproxy.Effect]

	next  http.Handler
	clock Clock
	// How long the client waits for an answer.
	within time.Duration

	mu      sync.Mutex
	counted map[string]int
	watched []string
	edited  map[string]bool
	deleted map[string]bool
}

// New returns a machine without faults before an API, for a client that waits so
// long for an answer.
func New(next http.Handler, clock Clock, within time.Duration) *Machine {
	m := &Machine{next: next, clock: clock, within: within, counted: map[string]int{}, edited: map[string]bool{}, deleted: map[string]bool{}}
	m.Striker = faultgrammar.NewStriker(kinds, m)
	return m
}

// ServeHTTP passes a request on, or lets a fault strike it.
func (m *Machine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	operation := Operation(r)
	m.mu.Lock()
	m.counted[operation]++
	if r.URL.Query().Get("watch") != "" {
		m.watched = append(m.watched, r.URL.Path)
	}
	m.mu.Unlock()
	if as, strikes := m.Next(operation); strikes {
		as(w, r, m.next)
		return
	}
	m.next.ServeHTTP(w, r)
}

// Operations counts the operations since the machine was made.
func (m *Machine) Operations() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.counted)
}

// Watched are the paths that the client has watched.
func (m *Machine) Watched() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.watched)
}

// Edited are the paths of the objects whose label [Label] others have taken;
// Deleted are those that they have deleted.
func (m *Machine) Edited() map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.edited)
}

// Deleted are the paths of the objects that others have deleted.
func (m *Machine) Deleted() map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.deleted)
}

// Operation is what a request asks for, whatever it asks it of: "GET /apis",
// "PATCH /api/v1/namespaces/*/configmaps/*", and "… (trial)" if it changes nothing.
func Operation(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	begin := 2 // api/v1
	if parts[0] == "apis" {
		begin = 3 // apis/group/version
	}
	for i := begin + 1; i < len(parts); i++ {
		nested := parts[begin] == "namespaces" && i > begin+1
		if i == begin+1 || nested && i == begin+3 {
			parts[i] = "*"
		}
	}
	name := r.Method + " /" + strings.Join(parts, "/")
	if r.URL.Query().Get("dryRun") != "" {
		name += " (trial)"
	}
	return name
}
