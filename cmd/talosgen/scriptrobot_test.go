package main

import (
	"crypto/rand"
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/sim/robotsim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/schemas"
)

// robotPassword is the password of the simulated account in scripts: a canary, which no
// command may print.
const robotPassword = "canary-robot-password-0123456789"

type robotKey struct{}

// robotHolder is where a script keeps its account at Hetzner Robot.
type robotHolder struct{ sim *robotsim.Sim }

// cmdRobot starts an account with the dedicated servers of an environment, which have
// never run Talos, and tells talosgen where it is by its variables. Later it changes or
// shows what there is.
//
//	robot servers env [partition...]      the partitions that are on each disk
//	robot impersonate number              another machine answers at its address
//	robot activate number                 somebody activates its rescue system
//	robot fail call status code           a request fails, counted from now
//	robot calls                           prints the requests that changed something
//	robot state number                    prints what a server does
func cmdRobot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: robot (servers env | impersonate number | activate number | fail call status code | calls | state number)")
	}
	holder := ts.Value(robotKey{}).(*robotHolder)
	if args[0] == "servers" {
		holder.sim = robotServers(ts, args[1], args[2:])
		return
	}
	var numbers []int
	for _, text := range args[1:] {
		n, _ := strconv.Atoi(text)
		numbers = append(numbers, n)
	}
	switch args[0] {
	case "impersonate":
		holder.sim.Impersonate(int64(numbers[0]))
	case "activate":
		holder.sim.Activate(int64(numbers[0]))
	case "fail":
		holder.sim.ResetCalls()
		holder.sim.Inject(robotsim.Fault{Call: numbers[0], Status: numbers[1], Code: args[3]})
	case "calls":
		out := ts.Stdout() // also if there is nothing to say
		for _, c := range holder.sim.Calls() {
			if c.Method != "GET" {
				path := strings.Split(c.Path, "/")
				fmt.Fprintln(out, c.Method, "/"+path[1], c.Status)
			}
		}
		holder.sim.ResetCalls()
	case "state":
		fmt.Fprintf(ts.Stdout(), "%+v keys %d\n", holder.sim.State(int64(numbers[0])), len(holder.sim.Keys()))
	default:
		ts.Fatalf("unknown: %s", args[0])
	}
}

// robotServers are the servers of an environment, and machines that start Talos once it
// is on their disks, beside the servers of a project that there is.
func robotServers(ts *testscript.TestScript, env string, parts []string) *robotsim.Sim {
	var infra schemas.Infrastructure
	ts.Check(yaml.Unmarshal([]byte(ts.ReadFile("rendered/"+env+"/infrastructure.yaml")), &infra))
	holder := ts.Value(simKey{}).(*simHolder)
	if holder.fleet == nil {
		holder.fleet = newFleet(ts)
	}
	fleet := holder.fleet
	machines := map[int64]schemas.InfraMachine{}
	var sim *robotsim.Sim
	sim, err := robotsim.New(robotsim.Options{
		User: "#ws+robot", Password: robotPassword, Clock: wallClock{}, Random: rand.Reader, Fetch: fetchPicture,
		Started: func(s robotsim.Server) { startTalos(fleet, machines[s.Number], sim, s) },
		Halted: func(s robotsim.Server) {
			if m := fleet.Machine(s.Name); m != nil {
				m.PowerOff()
			}
		},
	})
	ts.Check(err)
	ts.Defer(sim.Close)
	for _, m := range infra.Machines {
		if m.RobotServer == 0 {
			continue
		}
		machines[m.RobotServer] = m
		fleet.Remove(m.Name) // nothing of Talos is on its disk
		disk := robotsim.Disk{Path: m.InstallDisk, Model: "SAMSUNG", Serial: "S" + m.Name, WWN: "eui." + m.Name, Size: 512_000_000_000, Parts: parts}
		if len(parts) > 0 {
			disk.Table = "gpt"
		}
		address, _, _ := strings.Cut(m.BootAddress, "/")
		sim.Add(robotsim.Server{
			Number: m.RobotServer, Name: m.Name, Product: "AX41-NVMe", DC: "FSN1-DC10", IP: address, IPv6Net: "2001:db8::", Disks: []robotsim.Disk{disk},
		})
	}
	api := httptest.NewServer(sim)
	ts.Defer(api.Close)
	way := httptest.NewServer(proxied(nil, firstOf(sim.Dial, fleet.Dial)))
	ts.Defer(way.Close)
	ts.Setenv(robotEndpointVariable, api.URL)
	ts.Setenv(robotUserVariable, "#ws+robot")
	ts.Setenv(robotPasswordVariable, robotPassword)
	ts.Setenv(proxyVariable, way.URL)
	ts.Setenv(hurryVariable, "1")
	return sim
}

// startTalos lets a machine start from its disk, if that has Talos.
func startTalos(fleet *talossim.Fleet, m schemas.InfraMachine, sim *robotsim.Sim, s robotsim.Server) {
	if !sim.Written(s.Number, m.InstallDisk).Complete {
		return
	}
	if fleet.Machine(m.Name) == nil {
		spec := preinstalled(m)
		spec.Installed = true
		fleet.Add(spec)
	}
	fleet.Machine(m.Name).PowerOn()
}
