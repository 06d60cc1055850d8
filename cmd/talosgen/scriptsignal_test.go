package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// signals are those that a script sends.
var signals = map[string]syscall.Signal{"TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP}

// cmdSignal sends a signal to the process whose number is in a file, in the middle of its
// next request of that kind to the project. The request has its effect; a process that is
// still there gets its answer a moment later.
//
//	signal TERM|KILL|STOP file method path
func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 || signals[args[0]] == 0 {
		ts.Fatalf("usage: signal TERM|KILL|STOP file method path")
	}
	file := ts.MkAbs(args[1])
	simOf(ts).Inject(hetznersim.Fault{
		Method: args[2], Path: args[3], As: hetznersim.Slow(200 * time.Millisecond),
		Then: func() {
			text, err := os.ReadFile(file)
			if err != nil {
				ts.Logf("signal: %v", err)
				return
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err == nil {
				err = syscall.Kill(pid, signals[args[0]])
			}
			if err != nil {
				ts.Logf("signal: %v", err)
			}
		},
	})
}
