package faultmachine

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// refusal is an answer of an API server that is none of success, as it words it.
type refusal struct {
	name    string
	status  int
	reason  metav1.StatusReason
	message string
	fits    func(operation string) bool // nil: any
	times   int                         // how many calls; 0 is one
	longest int                         // seconds that it asks to wait for
	waits   time.Duration               // before it is given
	done    bool                        // the request had its effect
}

// changes reports whether an operation asks admission: also a trial does.
func changes(operation string) bool { return !isRead(operation) }

func isReplace(operation string) bool { return strings.HasPrefix(operation, "PUT ") }

var refusals = []refusal{
	{name: "401", status: http.StatusUnauthorized, reason: metav1.StatusReasonUnauthorized, message: "Unauthorized"},
	{name: "403", status: http.StatusForbidden, reason: metav1.StatusReasonForbidden, message: `configmaps is forbidden: User "admin" cannot do that`},
	{name: "403 webhook denies", status: http.StatusForbidden, fits: changes, message: `admission webhook "policy.example.org" denied the request: not today`},
	{name: "404 kind not served", status: http.StatusNotFound, reason: metav1.StatusReasonNotFound, message: "the server could not find the requested resource"},
	{name: "409 modified", status: http.StatusConflict, reason: metav1.StatusReasonConflict, fits: isReplace,
		message: "the object has been modified; please apply your changes to the latest version and try again"},
	{name: "409", status: http.StatusConflict, reason: metav1.StatusReasonConflict, fits: changes, message: "Operation cannot be fulfilled: please try again"},
	{name: "429", status: http.StatusTooManyRequests, reason: metav1.StatusReasonTooManyRequests, message: "too many requests, please try again later"},
	{name: "429 with Retry-After", status: http.StatusTooManyRequests, reason: metav1.StatusReasonTooManyRequests, longest: mostPatience,
		message: "the server has received too many requests and has asked us to try again later"},
	{name: "429 ten times", status: http.StatusTooManyRequests, reason: metav1.StatusReasonTooManyRequests, times: 10, message: "too many requests"},
	{name: "500 leader changed", status: http.StatusInternalServerError, reason: metav1.StatusReasonInternalError, message: "etcdserver: leader changed"},
	{name: "500 etcd timed out after its effect", status: http.StatusInternalServerError, reason: metav1.StatusReasonInternalError, fits: isWrite, done: true,
		message: "etcdserver: request timed out"},
	{name: "500 webhook not there", status: http.StatusInternalServerError, reason: metav1.StatusReasonInternalError, fits: changes,
		message: `Internal error occurred: failed calling webhook "policy.example.org": no endpoints available for service "policy"`},
	{name: "500 webhook does not answer", status: http.StatusInternalServerError, reason: metav1.StatusReasonInternalError, fits: changes, waits: 10 * time.Second, times: 3,
		message: `Internal error occurred: failed calling webhook "policy.example.org": context deadline exceeded`},
	{name: "503 shutting down", status: http.StatusServiceUnavailable, reason: metav1.StatusReasonServiceUnavailable, message: "apiserver is shutting down"},
	{name: "504 after its effect", status: http.StatusGatewayTimeout, reason: metav1.StatusReasonTimeout, fits: isWrite, done: true,
		message: "Timeout: request did not complete within requested timeout - context deadline exceeded"},
}

// effect answers with the refusal.
func (f refusal) effect(m *Machine, fault faultgrammar.Fault) faultproxy.Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if f.done {
			faultproxy.Discard(r, next)
		}
		if f.waits > 0 && m.clock.Sleep(r.Context(), f.waits) != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header()["Date"] = nil
		s := metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Reason: f.reason, Message: f.message, Code: int32(f.status),
		}
		if fault.Seconds > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(fault.Seconds))
			s.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(fault.Seconds)}
		}
		w.WriteHeader(f.status)
		_ = json.NewEncoder(w).Encode(s) // the client may have gone away
	}
}
