package talossim_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"syscall"
	"testing"

	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// TestFirewallsOfProject: who reaches a node is decided by the firewalls of its
// server, and a load balancer passes on to a target that listens.
func TestFirewallsOfProject(t *testing.T) {
	p := newProject(t)
	dial := func(v talossim.View, address string) string {
		conn, err := v.Dial(t.Context(), address)
		switch {
		case err == nil:
			_ = conn.Close()
			return "connected"
		case errors.Is(err, syscall.ECONNREFUSED):
			return "refused"
		case errors.Is(err, os.ErrDeadlineExceeded):
			return "no answer"
		}
		return err.Error()
	}
	from := func(text string) talossim.View { return p.fleet.From("").As(netip.MustParseAddr(text)) }
	everybody, friend, stranger := p.fleet.From(""), from("203.0.113.7"), from("198.51.100.1")
	network := p.call(http.MethodPost, "/networks", object{"name": "a", "ip_range": "10.0.0.0/16",
		"subnets": []object{{"type": "cloud", "network_zone": "eu-central", "ip_range": "10.0.1.0/24"}}}, "network", "id")
	path := p.server("cp-1", object{"networks": []any{network}})
	server := p.call(http.MethodGet, path, nil, "server").(object)
	ip := p.call(http.MethodGet, path, nil, "server", "public_net", "ipv4", "ip").(string)
	api, ssh := net.JoinHostPort(ip, "50000"), net.JoinHostPort(ip, "22")
	expect(t, "without a firewall", dial(stranger, api), "connected")

	rule := object{"direction": "in", "protocol": "tcp", "port": "50000", "source_ips": []string{"203.0.113.0/24"}}
	on := []object{{"type": "server", "server": object{"id": server["id"]}}}
	made := p.call(http.MethodPost, "/firewalls", object{"name": "a", "apply_to": on}, "firewall").(object)
	p.settle()
	expect(t, "a firewall without rules", dial(everybody, api), "no answer")
	within := p.fleet.From(talossim.PrivateNetwork)
	private := p.call(http.MethodGet, path, nil, "server", "private_net").([]any)[0].(object)["ip"].(string)
	expect(t, "the private network", dial(within, net.JoinHostPort(private, "50000")), "connected")
	p.call(http.MethodPost, fmt.Sprintf("/firewalls/%.0f/actions/set_rules", made["id"]), object{"rules": []object{rule}})
	p.settle()
	expect(t, "whom a rule names", dial(friend, api), "connected")
	expect(t, "whoever a rule names", dial(everybody, api), "connected")
	expect(t, "another source", dial(stranger, api), "no answer")
	expect(t, "another port", dial(friend, ssh), "no answer")

	silent := p.server("other", object{"networks": []any{network}, "image": "debian-13"})
	balancer := p.call(http.MethodPost, "/load_balancers", object{"name": "lb", "load_balancer_type": "lb11", "location": "fsn1", "network": network,
		"services": []object{{"protocol": "tcp", "listen_port": 443, "destination_port": 50000, "proxyprotocol": false,
			"health_check": object{"protocol": "tcp", "port": 50000, "interval": 15, "timeout": 10, "retries": 3}}}}, "load_balancer").(object)
	p.settle()
	at := fmt.Sprintf("/load_balancers/%.0f", balancer["id"])
	front := p.call(http.MethodGet, at, nil, "load_balancer", "public_net", "ipv4", "ip").(string)
	expect(t, "without a target", dial(stranger, front+":443"), "no answer")
	for _, target := range []string{silent, path} {
		id := p.call(http.MethodGet, target, nil, "server", "id")
		p.call(http.MethodPost, at+"/actions/add_target", object{"type": "server", "server": object{"id": id}, "use_private_ip": true})
		p.settle()
	}
	expect(t, "the target that listens", dial(stranger, front+":443"), "connected")
	expect(t, "no service", dial(stranger, front+":50000"), "refused")
	p.call(http.MethodPost, path+"/actions/poweroff", nil)
	p.settle()
	expect(t, "no target that listens", dial(stranger, front+":443"), "no answer")
}
