package robotsim

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/rescuesim"
)

// Options say how an account behaves.
type Options struct {
	User, Password string
	Clock          hetznersim.Clock
	// Random is where host keys and passwords come from.
	Random io.Reader
	// Fetch gets images for the rescue system.
	Fetch rescuesim.Fetch
	// Boot is how long the rescue system takes from the reset until Robot names its host
	// keys; SSH answers a little later.
	Boot time.Duration
	// Started is told when a server starts what is on its disks, and Halted when it ends;
	// nil: nobody is.
	Started func(Server)
	Halted  func(Server)
	// NoLimits lets in any number of requests.
	NoLimits bool
}

// sshAfter is how long SSH takes after the host keys are named.
const sshAfter = 10 * time.Second

// Server is a dedicated server.
type Server struct {
	Number            int64
	Name, Product, DC string
	IP, IPv6Net       string
	Cancelled         bool
	Disks             []Disk
}

// Disk is a disk of a server, and what was on it when it came.
type Disk struct {
	Path, Model, Serial, WWN string
	Size                     uint64
	Table                    string   // of partitions, or a file system; empty: nothing
	Parts                    []string // labels of partitions
}

// Sim is a simulated account. It is an [net/http.Handler], and safe for concurrent use.
type Sim struct {
	o        Options
	machines *rescuesim.Machines

	mu      sync.Mutex
	servers []*server
	keys    []key
	calls   []Call
	faults  []*Fault
	failed  int // logins
	used    map[string][]time.Time
}

// server is one with its state.
type server struct {
	Server
	rescue    *rescue // that the next start boots; nil: its disks
	last      *rescue
	boots     *rescue // that boots now, or runs
	at        time.Time
	sshUp     bool
	system    bool // what is on its disks runs
	impostor  bool
	restarted int
}

// rescue is an activation of the rescue system.
type rescue struct {
	password string
	keys     []key
	host     ssh.Signer // nil: it has not booted
}

// New returns an account without servers. Close it.
func New(o Options) (*Sim, error) {
	m, err := rescuesim.New(o.Random, o.Fetch)
	return &Sim{o: o, machines: m, used: map[string][]time.Time{}}, err
}

// Close ends all connections.
func (s *Sim) Close() { s.machines.Close() }

// Add adds a server, which runs what is on its disks.
func (s *Sim) Add(add Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers = append(s.servers, &server{Server: add, system: true})
}

// Impersonate lets another machine answer at the address of a server from now on: it
// has another host key than Robot names.
func (s *Sim) Impersonate(number int64) { s.change(number, func(m *server) { m.impostor = true }) }

// Activate activates the rescue system of a server, as somebody does in the console.
func (s *Sim) Activate(number int64) {
	s.change(number, func(m *server) {
		m.rescue = &rescue{password: "console", keys: []key{{Name: "admin", Fingerprint: "aa:bb"}}}
	})
}

func (s *Sim) change(number int64, how func(*server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.servers {
		if m.Number == number {
			how(m)
		}
	}
}

// State is what a server does.
type State struct {
	Active    bool // the rescue system is, for the next start
	InRescue  bool
	FromDisk  bool // what is on its disks runs
	Restarted int
}

// State returns what a server does.
func (s *Sim) State(number int64) (state State) {
	s.change(number, func(m *server) {
		s.settle()
		state = State{Active: m.rescue != nil, InRescue: m.boots != nil, FromDisk: m.system, Restarted: m.restarted}
	})
	return state
}

// Written returns what the rescue system has written to a disk.
func (s *Sim) Written(number int64, path string) rescuesim.Disk { return s.machines.Disk(number, path) }

// Keys are the names of the SSH keys in the account.
func (s *Sim) Keys() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.keys {
		names = append(names, k.Name)
	}
	return names
}

// Dial connects to a server.
func (s *Sim) Dial(ctx context.Context, address string) (net.Conn, error) {
	s.mu.Lock()
	s.settle()
	s.mu.Unlock()
	return s.machines.Dial(ctx, address)
}
