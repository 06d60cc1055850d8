package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/talosgen/talosgen/internal/hetznersim"
)

// simToken is the token of the simulated project in scripts: a canary, which no
// command may print.
const simToken = "canary-hcloud-token-0123456789abcdef"

// simulated is the simulated project of a script.
type simulated struct {
	*hetznersim.Sim
	clock *hetznersim.ScriptedClock
}

type simKey struct{}

// cmdSim starts a project of its own for the script, and tells talosgen where
// it is by its variables.
//
//	sim
func cmdSim(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: sim")
	}
	clock := hetznersim.NewClock(fixedTime())
	p := &simulated{clock: clock, Sim: hetznersim.New(hetznersim.Options{
		Clock: clock, Token: simToken, ActionTime: hetznersim.Instant,
	})}
	server := httptest.NewServer(p)
	ts.Defer(server.Close)
	ts.Value(simKey{}).(*simHolder).sim = p
	ts.Setenv(endpointVariable, server.URL+"/v1")
	ts.Setenv(tokenVariable, simToken)
}

// simHolder is where a script keeps its project.
type simHolder struct{ sim *simulated }

func simOf(ts *testscript.TestScript) *simulated {
	p := ts.Value(simKey{}).(*simHolder).sim
	if p == nil {
		ts.Fatalf("there is no project: sim first")
	}
	return p
}

// cmdCalls prints the requests since the last time, but for those that only
// read, to stdout. With a number, it fails if there were more than so many,
// those that only read included.
//
//	calls [at most]
func cmdCalls(ts *testscript.TestScript, neg bool, args []string) {
	p := simOf(ts)
	calls := p.Calls()
	p.ResetCalls()
	if len(args) == 1 && !neg {
		most, err := strconv.Atoi(args[0])
		ts.Check(err)
		if len(calls) > most {
			ts.Fatalf("%d requests, more than %d", len(calls), most)
		}
	}
	for _, c := range calls {
		if c.Method != http.MethodGet {
			fmt.Fprintln(ts.Stdout(), c)
		}
	}
}

// cmdFault lets requests fail: with an error code of the API, from now on until
// it is told to stop.
//
//	fault method path code
//	fault off
func cmdFault(ts *testscript.TestScript, neg bool, args []string) {
	p := simOf(ts)
	switch {
	case !neg && len(args) == 1 && args[0] == "off":
		p.ClearFaults()
	case !neg && len(args) == 3:
		p.Inject(hetznersim.Fault{
			Method: args[0], Path: args[1], Times: -1,
			As: hetznersim.Status(0, args[2], strings.ReplaceAll(args[2], "_", " ")),
		})
	default:
		ts.Fatalf("usage: fault method path code, or fault off")
	}
}
