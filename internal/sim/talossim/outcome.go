package talossim

import (
	"context"
	"time"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Outcome is what a client sees of a fault.
type Outcome struct {
	err  error
	slow time.Duration
	late time.Duration    // of the request
	cut  int              // messages of a stream before it ends; 0: it is not cut
	lie  func(answer any) // changes an answer
}

// lets reports whether the call has its effect.
func (o Outcome) lets() bool { return o.slow > 0 || o.late > 0 || o.cut > 0 || o.lie != nil }

// Drop ends the connection without an answer. It is the zero Outcome.
func Drop() Outcome { return Outcome{} }

// Hang gives no answer in time. No time passes on the clock: who waits in
// simulated time has not waited.
func Hang() Outcome { return Outcome{err: errHang} }

// Slow answers after a time of the fleet's clock, as if nothing was wrong.
func Slow(d time.Duration) Outcome { return Outcome{slow: d} }

// Late lets the request have its effect only after a time of the fleet's clock,
// also when its client has given up waiting by then.
func Late(d time.Duration) Outcome { return Outcome{late: d} }

// CutAfter ends a stream without a word after so many messages, at least one. Calls
// with a single answer are as without.
func CutAfter(messages int) Outcome { return Outcome{cut: max(messages, 1)} }

// SaysStage lets a machine say that it is in another stage, such as unknown, to who
// reads its status.
func SaysStage(stage string) Outcome {
	return Outcome{lie: func(answer any) {
		if r, is := answer.(*cosi.GetResponse); is && r.GetResource().GetMetadata().GetType() == machineStatuses {
			r.Resource.Spec.YamlSpec = "stage: " + stage + "\nstatus: {ready: false, unmetConditions: []}\n"
		}
	}}
}

// SaysUnwell lets a machine say that none of its services is healthy; what state they
// are in is true.
func SaysUnwell() Outcome {
	return Outcome{lie: func(answer any) {
		if r, is := answer.(*machine.ServiceListResponse); is {
			for _, s := range r.GetMessages()[0].GetServices() {
				s.Health = &machine.ServiceHealth{Unknown: true}
			}
		}
	}}
}

// Status answers with an error.
func Status(code codes.Code, message string) Outcome {
	return Outcome{err: status.Error(code, message)}
}

// arrive lets a request have its effect when a fault lets it, and returns the context
// of that.
func (s *service) arrive(ctx context.Context, c *underway) context.Context {
	if c.fault == nil || c.fault.As.late == 0 {
		return ctx
	}
	ctx = context.WithoutCancel(ctx)
	_ = s.fleet.clock.Sleep(ctx, c.fault.As.late) // nobody ends it
	return ctx
}

// faultyStream is a stream that a fault cuts, or whose request comes late.
type faultyStream struct {
	grpc.ServerStream

	ctx  context.Context
	left int // messages; negative: all
}

// Context is that of the request.
func (f *faultyStream) Context() context.Context { return f.ctx }

// SendMsg sends a message, unless the stream is cut.
func (f *faultyStream) SendMsg(m any) error {
	if f.left == 0 {
		return errGone
	}
	f.left--
	return f.ServerStream.SendMsg(m)
}
