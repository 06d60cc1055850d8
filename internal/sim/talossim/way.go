package talossim

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// reach returns what answers at an address, by the way that the project of the
// servers leads there. Of the targets of a load balancer it is one that listens,
// as the health check would find it.
func (v View) reach(host, port string) (*server, error) {
	ends, err := v.ends(host, port)
	switch {
	case errors.Is(err, hetznersim.ErrNotInProject):
		return v.find(host, port)
	case errors.Is(err, hetznersim.ErrNoService):
		return nil, syscall.ECONNREFUSED
	case err != nil:
		return nil, os.ErrDeadlineExceeded
	}
	within := v.fleet.From(PrivateNetwork)
	var s *server
	for _, end := range ends {
		if s, err = within.find(end.Addr().String(), strconv.Itoa(int(end.Port()))); err == nil {
			return s, nil
		}
	}
	return nil, err
}

// ends are the addresses of servers that a connection may lead to. Names are
// nobody's in a project: see [View.behind].
func (v View) ends(host, port string) ([]netip.AddrPort, error) {
	v.fleet.mu.Lock()
	project := v.fleet.project
	v.fleet.mu.Unlock()
	to, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
	if project == nil || err != nil {
		return nil, hetznersim.ErrNotInProject
	}
	return project.Way(hetznersim.Origin{Address: v.source, Private: v.network == PrivateNetwork}, to)
}
