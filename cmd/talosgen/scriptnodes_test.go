package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/talosgen/talosgen/internal/sim/kubesim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// wallClock is the time of the talosgen that a script runs, which waits for a
// hundredth of the time only.
type wallClock struct{}

// Now is the time of this machine.
func (wallClock) Now() time.Time { return time.Now() }

// Sleep waits.
func (wallClock) Sleep(ctx context.Context, d time.Duration) error { return sleepFor(ctx, d/100) }

// newFleet are simulated Talos nodes that boot at once.
func newFleet(ts *testscript.TestScript) *talossim.Fleet {
	fleet := talossim.New(talossim.Options{Clock: wallClock{}, Random: rand.Reader, Timing: talossim.DefaultTiming().Faster(0)})
	ts.Defer(fleet.Close)
	return fleet
}

// kubeOf is the Kubernetes API of the cluster that a node of a script is in.
func kubeOf(ts *testscript.TestScript, node string) *kubesim.API {
	fleet := ts.Value(simKey{}).(*simHolder).fleet
	if fleet == nil {
		ts.Fatalf("there are no nodes: sim -nodes first")
	}
	api := fleet.Kubernetes(node)
	if api == nil {
		ts.Fatalf("%s is in no cluster", node)
	}
	return api
}

// kubeCall makes a request to the Kubernetes API of a node, and prints the answer
// to stdout.
func kubeCall(ts *testscript.TestScript, node, method, path, content, body string) {
	req := httptest.NewRequest(method, path, bytes.NewReader([]byte(body)))
	req.Header.Set("Content-Type", content)
	answer := httptest.NewRecorder()
	kubeOf(ts, node).ServeHTTP(answer, req)
	if answer.Code >= http.StatusBadRequest {
		ts.Fatalf("%s %s: %d %s", method, path, answer.Code, answer.Body)
	}
	_, _ = answer.Body.WriteTo(ts.Stdout())
}

// cmdKubeApply applies an object as another program would: by a path of the API,
// from a file.
//
//	kube-apply node manager path file
func cmdKubeApply(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: kube-apply node manager path file")
	}
	kubeCall(ts, args[0], http.MethodPatch, args[2]+"?force=true&fieldManager="+args[1], "application/apply-patch+yaml", ts.ReadFile(args[3]))
}

// cmdKubeGet prints an object.
//
//	kube-get node path
func cmdKubeGet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: kube-get node path")
	}
	kubeCall(ts, args[0], http.MethodGet, args[1], "", "")
}

// readingCalls are the calls of Talos that change nothing.
var readingCalls = []string{"Version", "List", "Read", "ServiceList", "EtcdMemberList", "EtcdStatus", "ImageList", "Get"}

// cmdNodeCalls prints the calls of Talos and Kubernetes since the last time, but for
// those that only read, to stdout.
//
//	node-calls
func cmdNodeCalls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: node-calls")
	}
	fleet := ts.Value(simKey{}).(*simHolder).fleet
	calls := fleet.Calls()
	fleet.ResetCalls()
	out := ts.Stdout() // also if there is nothing to say
	for _, c := range calls {
		method := c.Method[strings.LastIndex(c.Method, "/")+1:]
		if !strings.HasPrefix(c.Method, "GET /") && !slices.Contains(readingCalls, method) {
			fmt.Fprintln(out, c.Machine, c.Method)
		}
	}
	fmt.Fprintln(out, len(calls), "calls")
}
