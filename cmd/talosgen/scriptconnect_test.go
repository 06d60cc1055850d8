package main

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdConnect connects to a port of a server at its public address, from a source
// address, through whatever firewalls of the project let in. Negated, the
// connection must be dropped.
//
//	connect source server port
func cmdConnect(ts *testscript.TestScript, neg bool, args []string) {
	fleet := ts.Value(simKey{}).(*simHolder).fleet
	if len(args) != 3 || fleet == nil {
		ts.Fatalf("usage: connect source server port, after sim -nodes")
	}
	source, err := netip.ParseAddr(args[0])
	ts.Check(err)
	var answer struct {
		Servers []struct {
			Net struct {
				IPv4 struct {
					IP string `json:"ip"`
				} `json:"ipv4"`
			} `json:"public_net"`
		} `json:"servers"`
	}
	ts.Check(simOf(ts).call("GET", "/servers?name="+args[1], nil, &answer))
	if len(answer.Servers) != 1 {
		ts.Fatalf("there is no server %s", args[1])
	}
	conn, err := fleet.From("").As(source).DialContext(context.Background(), "tcp", net.JoinHostPort(answer.Servers[0].Net.IPv4.IP, args[2]))
	if err == nil {
		_ = conn.Close()
	}
	var late net.Error
	switch {
	case neg && err == nil:
		ts.Fatalf("%s comes through to port %s of %s", source, args[2], args[1])
	case neg && (!errors.As(err, &late) || !late.Timeout()):
		ts.Fatalf("%s is not dropped on the way to port %s of %s: %v", source, args[2], args[1], err)
	case !neg && err != nil:
		ts.Fatalf("%s does not come through to port %s of %s: %v", source, args[2], args[1], err)
	}
}
