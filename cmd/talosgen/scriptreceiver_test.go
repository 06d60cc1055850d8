package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/talosgen/talosgen/apply/notify"
	"github.com/talosgen/talosgen/internal/secret"
)

// What a webhook and a forge are told with in scripts: canaries.
const (
	receiverPath  = "/services/canary-of-the-webhook-4f1c"
	receiverKey   = "canary-webhook-key-8d20"
	receiverToken = "canary-forge-token-c3e9"
)

// receiver is a webhook and a forge, which are told of runs.
type receiver struct {
	mu      sync.Mutex
	status  int // that it answers
	heard   strings.Builder
	problem string // a secret that it got
}

type receiverKeyOf struct{}

// cmdReceiver starts a webhook and a forge on loopback, and sets $RECEIVER to their URL,
// $RECEIVER_PATH to the path of the webhook, $RECEIVER_KEY to its key and $RECEIVER_TOKEN
// to the token of the forge. With a status it answers that from now on.
//
//	receiver [status]
func cmdReceiver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: receiver [status]")
	}
	if len(args) == 1 {
		r := receiverOf(ts)
		r.mu.Lock()
		defer r.mu.Unlock()
		var err error
		r.status, err = strconv.Atoi(args[0])
		ts.Check(err)
		return
	}
	r := ts.Value(receiverKeyOf{}).(*receiver)
	r.status = http.StatusOK
	server := httptest.NewServer(r)
	ts.Defer(server.Close)
	for name, value := range map[string]string{"RECEIVER": server.URL, "RECEIVER_PATH": receiverPath, "RECEIVER_KEY": receiverKey, "RECEIVER_TOKEN": receiverToken} {
		ts.Setenv(name, value)
	}
}

func receiverOf(ts *testscript.TestScript) *receiver {
	r := ts.Value(receiverKeyOf{}).(*receiver)
	if r.status == 0 {
		ts.Fatalf("there is no receiver: receiver first")
	}
	return r
}

// ServeHTTP notes what it is told, and whether there is a secret in it that is none of
// how it is told.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	by := req.URL.Path
	header := req.Header.Clone()
	switch {
	case err != nil:
		by = err.Error()
	case by == receiverPath && header.Get(notify.SignatureHeader) == notify.Signature(secret.New(receiverKey), body):
		by = "webhook, signed"
	case by == receiverPath:
		by = "webhook"
	case header.Get("Authorization") == "Bearer "+receiverToken:
		header.Del("Authorization")
	case header.Get("PRIVATE-TOKEN") == receiverToken:
		header.Del("PRIVATE-TOKEN")
	}
	if by == "webhook, signed" || by == "webhook" {
		if err := validOutput(reflect.TypeFor[notify.Run](), body); err != nil {
			r.problem = err.Error()
		}
	}
	told := fmt.Sprintf("%s %s\n%s\n", req.Method, by, body)
	if f, err := prepared(); err != nil || f.leaks(told) || f.leaks(fmt.Sprint(header)) {
		r.problem = fmt.Sprintf("a secret was sent to %s: %v\n%s", by, header, body)
	}
	r.heard.WriteString(told)
	w.WriteHeader(r.status)
}

// cmdTold prints what the receiver was told since the last time, and fails if a secret
// was among it.
//
//	told
func cmdTold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: told")
	}
	r := receiverOf(ts)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.problem != "" {
		ts.Fatalf("%s", r.problem)
	}
	fmt.Fprint(ts.Stdout(), r.heard.String())
	r.heard.Reset()
}
