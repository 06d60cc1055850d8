// Package rescuesim stands in for Hetzner's rescue system behind the servers of
// a simulated project: an SSH server on loopback for each server that booted
// it, which lets in the keys that the API was told, and writes disk images to a
// disk in memory. It knows the scripts of apply/internal/rescue and apply/robot; what
// they do with real programs is tested there.
package rescuesim

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// Fetch downloads and unpacks an image.
type Fetch func(ctx context.Context, url string) (io.ReadCloser, error)

// Machines stands machines behind simulated servers. It is safe for concurrent
// use.
type Machines struct {
	fetch Fetch
	host  ssh.Signer

	mu     sync.Mutex
	disks  map[place]*Disk     // by server and path
	images map[int64]Disk      // by snapshot: the disk as it was then
	up     map[string]*machine // by public address
}

// Disk is what is on a disk.
type Disk struct {
	Content  []byte
	URL      string // of the image that was written last
	Complete bool   // to its end
	On       bool   // whether the machine was on, when a snapshot was taken
}

// place is where a disk is.
type place struct {
	server int64
	path   string
}

// only is the disk of a server at Hetzner Cloud.
const only = "/dev/sda"

// Boot is a start of the rescue system on a machine that is no server of a simulated
// project.
type Boot struct {
	ID      int64
	Address string
	Keys    []string   // lines of authorized_keys
	Host    ssh.Signer // the host key
	// The paths of its disks, and how the script describes them that is asked for them.
	Disks    []string
	Describe string
}

// machine is one that runs the rescue system.
type machine struct {
	id       int64
	boot     Boot
	listener net.Listener
	ctx      context.Context
	off      context.CancelFunc
}

// New returns machines that get images by fetch. Random is for the host key.
func New(random io.Reader, fetch Fetch) (*Machines, error) {
	_, private, err := ed25519.GenerateKey(random)
	if err != nil {
		return nil, err
	}
	host, err := ssh.NewSignerFromSigner(private)
	return &Machines{
		fetch: fetch, host: host,
		disks: map[place]*Disk{}, images: map[int64]Disk{}, up: map[string]*machine{},
	}, err
}

// Event starts and stops machines; see [hetznersim.Machines].
func (m *Machines) Event(e hetznersim.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := e.Server
	switch e.Kind {
	case hetznersim.MachineCreated, hetznersim.MachineRebuilt:
		m.disks[place{s.ID, only}] = &Disk{}
	case hetznersim.MachineBooted:
		m.halt(s.ID)
		if s.Rescue && s.PublicIPv4 != "" {
			m.boot(Boot{ID: s.ID, Address: s.PublicIPv4, Keys: s.RescueKeys, Host: m.host, Disks: []string{only}})
		}
	case hetznersim.MachineHalted:
		m.halt(s.ID)
	case hetznersim.MachineImaged:
		d := *m.disk(place{s.ID, only})
		d.Content, d.On = bytes.Clone(d.Content), m.running(s.ID)
		m.images[e.Image] = d
	case hetznersim.MachineDeleted:
		m.halt(s.ID)
		delete(m.disks, place{s.ID, only})
	}
}

func (m *Machines) disk(at place) *Disk {
	if m.disks[at] == nil {
		m.disks[at] = &Disk{}
	}
	return m.disks[at]
}

func (m *Machines) running(id int64) bool {
	for _, up := range m.up {
		if up.id == id {
			return true
		}
	}
	return false
}

func (m *Machines) halt(id int64) {
	for address, up := range m.up {
		if up.id == id {
			up.off()
			delete(m.up, address)
		}
	}
}

// boot lets a machine listen on loopback. One that cannot is one that does not
// answer.
func (m *Machines) boot(b Boot) {
	ctx, off := context.WithCancel(context.Background())
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		off()
		return
	}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	up := &machine{b.ID, b, listener, ctx, off}
	m.up[b.Address] = up
	go m.serve(up)
}

// Start lets a machine start the rescue system.
func (m *Machines) Start(b Boot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.halt(b.ID)
	m.boot(b)
}

// Stop ends the rescue system of a machine. Its disks stay.
func (m *Machines) Stop(id int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.halt(id)
}

// Disk returns what a run has written to a disk of a machine.
func (m *Machines) Disk(id int64, path string) Disk {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := *m.disk(place{id, path})
	d.Content = bytes.Clone(d.Content)
	return d
}

// Dial connects to a machine by the public address of its server.
func (m *Machines) Dial(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	up := m.up[host]
	m.mu.Unlock()
	if up == nil || port != "22" {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused by the simulated server " + address)}
	}
	return new(net.Dialer).DialContext(ctx, "tcp", up.listener.Addr().String())
}

// Snapshot returns the disk that a snapshot was taken of.
func (m *Machines) Snapshot(image int64) (Disk, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, found := m.images[image]
	return d, found
}

// Close stops all machines.
func (m *Machines) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, up := range m.up {
		up.off()
	}
	clear(m.up)
}

// serve lets in those who have a key.
func (m *Machines) serve(up *machine) {
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if slices.ContainsFunc(up.boot.Keys, func(line string) bool {
			known, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
			return err == nil && bytes.Equal(known.Marshal(), key.Marshal())
		}) {
			return nil, nil
		}
		return nil, fmt.Errorf("key %s is not known", ssh.FingerprintSHA256(key))
	}}
	config.AddHostKey(up.boot.Host)
	for {
		conn, err := up.listener.Accept()
		if err != nil {
			return // it is off
		}
		stop := context.AfterFunc(up.ctx, func() { _ = conn.Close() })
		go func() {
			defer stop()
			defer conn.Close()
			m.session(up, conn, config)
		}()
	}
}
