package apply

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/schemas"
)

// shownKey is a fingerprint as Talos writes it.
const shownKey = "cBoPHCpSUqN0nBwHaWuFsj2+MCnsYMvFsALAmB4pB0k="

// labelled is a server with a label of whether it was configured.
func labelled(value string) cloudplan.Server {
	return cloudplan.Server{Meta: cloudplan.Meta{ID: 7, Labels: map[string]string{schemas.LabelConfigured: value}}}
}

// TestServerRecords: what a label says, and that of what is written is what was
// read. What nobody understands never says that a server is new.
func TestServerRecords(t *testing.T) {
	written := ""
	r := newServerRecords(func(_ context.Context, id int64, value string) error {
		if id != 7 || len(value) > 63 {
			t.Errorf("%d: %q", id, value)
		}
		written = value
		return nil
	})
	m := nodes.Machine{ID: "7"}
	for value, want := range map[string]newonce.State{
		"no": newonce.Blank, "yes": newonce.Sent, "": newonce.Unrecorded, "NO": newonce.Unrecorded, "later": newonce.Unrecorded,
		strings.Repeat("w", 52): newonce.Unrecorded, strings.Repeat("0", 51): newonce.Unrecorded, strings.Repeat("0", 52): newonce.Sending,
	} {
		r.add(labelled(value))
		if got := r.Of(m); got.State != want || !got.Bound {
			t.Errorf("%q: %+v", value, got)
		}
	}
	r.add(cloudplan.Server{Meta: cloudplan.Meta{ID: 7}})
	if got := r.Of(m); got.State != newonce.Unrecorded {
		t.Errorf("without a label: %+v", got)
	}
	if err := r.Sending(t.Context(), m, shownKey); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what was observed before does not count any more
		if got := r.Of(m); got.State != newonce.Sending || got.Fingerprint != shownKey {
			t.Errorf("%+v", got)
		}
		r.add(labelled("no"))
	}
	other := newServerRecords(nil)
	other.add(labelled(written))
	if got := other.Of(m); got.State != newonce.Sending || got.Fingerprint != shownKey {
		t.Errorf("another run reads %+v from %q", got, written)
	}
	if err := r.Arrived(t.Context(), m); err != nil || written != schemas.ConfiguredYes || r.Of(m).State != newonce.Sent {
		t.Errorf("%v, %q", err, written)
	}
	if err := r.Forgotten(t.Context(), m); err != nil || written != schemas.ConfiguredNo || r.Of(m).State != newonce.Blank {
		t.Errorf("%v, %q", err, written)
	}
}

// TestServerRecordNotWritten: what could not be written is not taken for written.
func TestServerRecordNotWritten(t *testing.T) {
	r := newServerRecords(func(context.Context, int64, string) error { return errors.New("no") })
	r.add(labelled("yes"))
	m := nodes.Machine{ID: "7"}
	if err := r.Forgotten(t.Context(), m); err == nil || r.Of(m).State != newonce.Sent {
		t.Errorf("%v, %+v", err, r.Of(m))
	}
}

// failing is a file of facts that fails.
type failing struct {
	memoryFacts
	read, write error
}

func (f *failing) Read() ([]byte, error) {
	if f.read != nil {
		return nil, f.read
	}
	return f.memoryFacts.Read()
}

func (f *failing) Write(content []byte) error {
	if f.write != nil {
		return f.write
	}
	return f.memoryFacts.Write(content)
}

// TestMachineRecords: the life of a machine in facts.yaml, as another run reads it,
// beside what else stands there.
func TestMachineRecords(t *testing.T) {
	file := &failing{memoryFacts: memoryFacts{[]byte("apiVersion: talosgen.dev/v1alpha1\naddresses:\n  - kind: server\n    name: x\n    ipv4: 203.0.113.7\n")}}
	a, b := nodes.Machine{Name: "a"}, nodes.Machine{Name: "b"}
	want := func(m nodes.Machine, state newonce.State, fingerprint string) {
		t.Helper()
		if got := (&machineRecords{file: file}).Of(m); got != (newonce.Record{State: state, Fingerprint: fingerprint, Reason: got.Reason}) {
			t.Errorf("%s: %+v", m.Name, got)
		}
	}
	r := &machineRecords{file: file}
	want(a, newonce.Blank, "")
	if err := errors.Join(r.Arrived(t.Context(), b), r.Sending(t.Context(), a, shownKey)); err != nil {
		t.Fatal(err)
	}
	want(a, newonce.Sending, shownKey)
	want(b, newonce.Sent, "")
	if text := string(file.content); !strings.Contains(text, "ipv4: 203.0.113.7") || strings.Index(text, "name: a") > strings.Index(text, "name: b") {
		t.Errorf("it has become\n%s", text)
	}
	if err := errors.Join(r.Arrived(t.Context(), a), r.Forgotten(t.Context(), b), r.Forgotten(t.Context(), b)); err != nil {
		t.Fatal(err)
	}
	want(a, newonce.Sent, "")
	want(b, newonce.Blank, "")

	file.write = errors.New("the disk is full")
	if err := r.Sending(t.Context(), b, shownKey); err == nil || r.Of(b).State != newonce.Blank {
		t.Errorf("%v: %+v", err, r.Of(b))
	}
	file.read = errors.New("no such device")
	want(a, newonce.Unreadable, "")
	if err := r.Forgotten(t.Context(), a); err == nil {
		t.Error("what cannot be read was changed")
	}
}

// TestMachineRecordsUnreadable: a damaged file speaks for no machine, and is not
// written over.
func TestMachineRecordsUnreadable(t *testing.T) {
	for _, text := range []string{"nodes: a\n", "apiVersion: talosgen.dev/v2\nnodes: []\n", "nodes: []\n", "apiVersion: talosgen.dev/v1alpha1\nnode: [{name: a}]\n", "\x00", ""} {
		file := &memoryFacts{[]byte(text)}
		r := &machineRecords{file: file}
		if got := r.Of(nodes.Machine{Name: "a"}); got.State != newonce.Unreadable || got.Reason == "" {
			t.Errorf("%q: %+v", text, got)
		}
		if err := r.Arrived(t.Context(), nodes.Machine{Name: "a"}); err == nil || string(file.content) != text {
			t.Errorf("%q: %v, it is %q now", text, err, file.content)
		}
	}
}

// TestFactsGone: a file that has nothing to say any more goes.
func TestFactsGone(t *testing.T) {
	file := &memoryFacts{}
	r := &machineRecords{file: file}
	m := nodes.Machine{Name: "a"}
	if err := errors.Join(r.Arrived(t.Context(), m), r.Forgotten(t.Context(), m)); err != nil || file.content != nil {
		t.Errorf("%v: %q", err, file.content)
	}
}

func TestParseFingerprints(t *testing.T) {
	got, err := reach.ParseFingerprints([]string{"a=" + shownKey})
	if err != nil || got["a"] != shownKey {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "a", "=" + shownKey, "a=", "a=x", "a==" + shownKey} {
		if _, err := reach.ParseFingerprints([]string{bad}); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// TestTrustByName: a machine is trusted by the key of its node only. That its server
// may be removed, or everything may, says nothing of whom it is safe to tell secrets.
func TestTrustByName(t *testing.T) {
	for allow, trusted := range map[string]bool{"node/a": true, "a": false, "server/a": false, "node/b": false, "node/": false} {
		p := Policy{Consent: plan.Consent{Allow: []string{allow}, AllowDestroy: true}}
		if got := len(p.forNodes([]string{"a"}).Trust) > 0; got != trusted {
			t.Errorf("%q: %v", allow, got)
		}
	}
}
