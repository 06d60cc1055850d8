package main

import (
	"context"
	"crypto/rand"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/schemas"
)

// scriptRogue is somebody on the way to the nodes of a script: at one address a
// machine of theirs answers, in maintenance mode.
type scriptRogue struct {
	fleet *talossim.Fleet

	mu      sync.Mutex
	address string // empty: nobody is in the way
	dials   int
}

const rogueName = "rogue"

// around leads to the rogue where it is in the way.
func (r *scriptRogue) around(dial image.Dialer) image.Dialer {
	return func(ctx context.Context, address string) (net.Conn, error) {
		host, _, _ := net.SplitHostPort(address)
		r.mu.Lock()
		hit := r.address != "" && host == r.address
		if hit {
			r.dials++
		}
		r.mu.Unlock()
		if hit {
			return r.fleet.Dial(ctx, address)
		}
		return dial(ctx, address)
	}
}

// cmdRogue lets somebody answer at the address of a server, or at any address, who
// says of itself that it waits in maintenance mode, and has a certificate for that
// address and the MAC address that it is given. Without arguments it goes away.
//
//	rogue [server | address [mac]]
func cmdRogue(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 2 {
		ts.Fatalf("usage: rogue [server | address [mac]]")
	}
	r := ts.Value(simKey{}).(*simHolder).rogue
	r.mu.Lock()
	defer r.mu.Unlock()
	r.address, r.dials = "", 0
	if len(args) == 0 {
		return
	}
	if r.address = args[0]; net.ParseIP(args[0]) == nil {
		r.address = serverAddress(ts, args[0])
	}
	r.fleet = talossim.New(talossim.Options{Clock: wallClock{}, Random: rand.Reader, Timing: talossim.DefaultTiming().Faster(0)})
	ts.Defer(r.fleet.Close)
	r.fleet.Add(talossim.Spec{Name: rogueName, Public: []string{r.address}, MACs: args[1:], Installed: true}).PowerOn()
	ts.Check(r.fleet.Clock().Sleep(context.Background(), time.Minute))
}

// serverAddress is the public address of a server of the simulated project.
func serverAddress(ts *testscript.TestScript, name string) string {
	var found struct {
		Servers []struct {
			PublicNet struct {
				IPv4 struct{ IP string } `json:"ipv4"`
			} `json:"public_net"`
		}
	}
	ts.Check(simOf(ts).call("GET", "/servers?name="+name, nil, &found))
	if len(found.Servers) != 1 {
		ts.Fatalf("there is no server %s", name)
	}
	return found.Servers[0].PublicNet.IPv4.IP
}

// cmdRogueGot makes sure what the rogue got: connections that ended before anything
// was said, or, with nothing, not even these.
//
//	rogue-got (handshakes | nothing)
func cmdRogueGot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || !slices.Contains([]string{"handshakes", "nothing"}, args[0]) {
		ts.Fatalf("usage: rogue-got (handshakes | nothing)")
	}
	r := ts.Value(simKey{}).(*simHolder).rogue
	r.mu.Lock()
	defer r.mu.Unlock()
	if calls := r.fleet.Calls(); len(calls) > 0 || r.fleet.Machine(rogueName).Config() != "" {
		ts.Fatalf("the rogue was called: %v", calls)
	}
	if (r.dials > 0) != (args[0] == "handshakes") {
		ts.Fatalf("the rogue got %d connections", r.dials)
	}
}

// cmdMachines lets the machines of environments stand where their trees say, in
// maintenance mode, reached through a proxy.
//
//	machines env...
func cmdMachines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: machines env...")
	}
	holder := ts.Value(simKey{}).(*simHolder)
	holder.fleet = newFleet(ts)
	for _, env := range args {
		var infra schemas.Infrastructure
		ts.Check(yaml.Unmarshal([]byte(ts.ReadFile("rendered/"+env+"/infrastructure.yaml")), &infra))
		for _, m := range infra.Machines {
			holder.fleet.Add(preinstalled(m)).PowerOn()
		}
	}
	server := httptest.NewServer(proxied(nil, holder.rogue.around(holder.fleet.Dial)))
	ts.Defer(server.Close)
	ts.Setenv(proxyVariable, server.URL)
	ts.Setenv(hurryVariable, "1")
}

// cmdPower switches machines off, or on; or lets those that boot a version of Talos go
// back to the one before, until they are mended.
//
//	power (on | off | mend | revert=version) machine...
func cmdPower(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: power (on | off | mend | revert=version) machine...")
	}
	for _, name := range args[1:] {
		m := ts.Value(simKey{}).(*simHolder).fleet.Machine(name)
		switch {
		case m == nil:
			ts.Fatalf("there is no machine %s", name)
		case args[0] == "on":
			m.PowerOn()
			runs(ts, m)
		case args[0] == "mend":
			m.Mend()
		case strings.HasPrefix(args[0], "revert="):
			m.Break(strings.TrimPrefix(args[0], "revert="), talossim.Reverts)
		default:
			m.PowerOff()
		}
	}
}

// runs waits until a machine has booted.
func runs(ts *testscript.TestScript, m *talossim.Machine) {
	for range 60_000 {
		if m.Stage() == "running" {
			return
		}
		ts.Check(sleepFor(context.Background(), time.Millisecond))
	}
	ts.Fatalf("%s is %s", m.Name(), m.Stage())
}
