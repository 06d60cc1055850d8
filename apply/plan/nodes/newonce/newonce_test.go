package newonce_test

import (
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
)

// every calls a function with every input that there is.
func every(do func(newonce.Input)) {
	states := []newonce.State{newonce.Unrecorded, newonce.Blank, newonce.Sending, newonce.Sent, newonce.Unreadable, "of a later version"}
	knowledge := []newonce.Knowledge{newonce.Unasked, newonce.NoCluster, newonce.Stranger, newonce.Named, newonce.Same}
	for _, state := range states {
		for _, fingerprint := range []string{"", "F"} {
			for _, bound := range []bool{false, true} {
				for _, kubernetes := range knowledge {
					for _, etcd := range knowledge {
						for _, answer := range []newonce.Answer{newonce.Silence, newonce.Verified, newonce.Other} {
							for _, elsewhere := range []bool{false, true} {
								for _, consent := range []newonce.Consent{{}, {Allowed: true}, {Fingerprint: "P"}, {Allowed: true, Fingerprint: "P"}} {
									in := newonce.Input{
										Record:     newonce.Record{State: state, Fingerprint: fingerprint, Bound: bound},
										Kubernetes: kubernetes, Etcd: etcd, Answer: answer, BootsElsewhere: elsewhere, Consent: consent,
									}
									do(in)
									in.Pin = "T"
									do(in)
								}
							}
						}
					}
				}
			}
		}
	}
}

// TestNewOnce: over all records, answers, addresses and consents, a machine is
// taken for a new one only if it is proven to be new, or the operator names it.
// The rules are written down here once more, each by itself.
func TestNewOnce(t *testing.T) {
	asked := 0
	every(func(in newonce.Input) {
		d := newonce.Decide(in)
		if d.Verdict != newonce.New {
			if (d.Verdict == newonce.Refused || d.Verdict == newonce.Undecided) && d.Reason == "" {
				t.Errorf("%+v: %s without a reason", in, d.Verdict)
			}
			return
		}
		asked++
		blank := in.Record.State == newonce.Blank
		// A machine whose record goes with it is not the one that had its name before.
		strange := in.Kubernetes != newonce.Same && in.Etcd != newonce.Same
		if !in.Record.Bound {
			can := func(k newonce.Knowledge) bool { return k == newonce.NoCluster || k == newonce.Stranger }
			strange = can(in.Kubernetes) && can(in.Etcd)
		}
		registered := in.Kubernetes == newonce.Same || in.Etcd == newonce.Same ||
			!in.Record.Bound && (in.Kubernetes == newonce.Named || in.Etcd == newonce.Named)
		proven := blank && strange && d.Proof == newonce.Recorded && d.Pin == in.Pin
		unconfirmed := in.Record.State == newonce.Sending && (d.Pin == "F" && in.Pin == "" || d.Pin == "T" && in.Pin == "T") && in.Record.Fingerprint == "F" && !registered && d.Proof == newonce.Resumed
		pinned := in.Consent.Fingerprint == "P" && d.Pin == "P" && d.Proof == newonce.Pinned
		consented := in.Consent == newonce.Consent{Allowed: true} && d.Proof == newonce.Consented && d.Pin == in.Pin
		if !proven && !unconfirmed && !pinned && !consented {
			t.Errorf("%+v: taken for a new one: %+v", in, d)
		}
		if in.Answer == newonce.Verified {
			t.Errorf("%+v: a node that has proven itself is taken for a new one", in)
		}
		if in.Answer == newonce.Silence && !in.BootsElsewhere {
			t.Errorf("%+v: there is nobody to ask", in)
		}
	})
	if asked == 0 {
		t.Error("no machine is ever new")
	}
}

// TestNotAskedElsewhere: the address that a machine has before it is configured
// is asked only if it may be new.
func TestNotAskedElsewhere(t *testing.T) {
	every(func(in newonce.Input) {
		if in.Answer != newonce.Silence || !in.BootsElsewhere || in.Consent != (newonce.Consent{}) {
			return
		}
		known := in.Record.State == newonce.Sent || in.Record.State == newonce.Unrecorded ||
			!in.Record.Bound && (in.Kubernetes == newonce.Named || in.Etcd == newonce.Named) && in.Record.State != newonce.Unreadable
		if d := newonce.Decide(in); known && d.Verdict != newonce.Silent {
			t.Errorf("%+v: %+v", in, d)
		}
	})
}

// TestMachines: what becomes of machines as one meets them.
func TestMachines(t *testing.T) {
	blank := newonce.Record{State: newonce.Blank, Bound: true}
	unlisted := newonce.Record{State: newonce.Blank}
	for _, tt := range []struct {
		name string
		in   newonce.Input
		want newonce.Verdict
	}{
		{"a server that talosgen has just made", newonce.Input{Record: blank, Answer: newonce.Other}, newonce.New},
		{"one that is made in the place of a node that was lost", newonce.Input{Record: blank, Kubernetes: newonce.Named, Etcd: newonce.Named, Answer: newonce.Other}, newonce.New},
		{"one that Kubernetes knows by its id", newonce.Input{Record: blank, Kubernetes: newonce.Same, Answer: newonce.Other}, newonce.Refused},
		{"one that an older talosgen made", newonce.Input{Kubernetes: newonce.Stranger, Etcd: newonce.Stranger, Answer: newonce.Other}, newonce.Refused},
		{"a machine of a cluster that does not exist yet", newonce.Input{Record: unlisted, Kubernetes: newonce.NoCluster, Etcd: newonce.NoCluster, Answer: newonce.Silence, BootsElsewhere: true}, newonce.New},
		{"one more machine for a cluster that runs", newonce.Input{Record: unlisted, Kubernetes: newonce.Stranger, Etcd: newonce.Stranger, Answer: newonce.Other}, newonce.New},
		{"a node of a cluster that another laptop made", newonce.Input{Record: unlisted, Kubernetes: newonce.Named, Etcd: newonce.Stranger, Answer: newonce.Other}, newonce.Refused},
		{"the same while nobody can be asked", newonce.Input{Record: unlisted, Answer: newonce.Other}, newonce.Undecided},
		{"the same, silent, and somebody where it was before", newonce.Input{Record: newonce.Record{State: newonce.Sent}, BootsElsewhere: true}, newonce.Silent},
		{"a run ended before it had sent", newonce.Input{Record: newonce.Record{State: newonce.Sending, Fingerprint: "F", Bound: true}, Answer: newonce.Other}, newonce.New},
		{"a record that cannot be read", newonce.Input{Record: newonce.Record{State: newonce.Unreadable, Reason: "x"}, Kubernetes: newonce.Stranger, Etcd: newonce.Stranger, Answer: newonce.Other}, newonce.Undecided},
		{"a node that runs", newonce.Input{Record: newonce.Record{State: newonce.Unreadable}, Answer: newonce.Verified}, newonce.Node},
	} {
		if d := newonce.Decide(tt.in); d.Verdict != tt.want {
			t.Errorf("%s: %+v", tt.name, d)
		}
	}
}
