package image

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/simtest"
)

// TestMake: both architectures at once, byte for byte, taken of machines that
// were off; nothing is left, and the second run makes nothing.
func TestMake(t *testing.T) {
	w := newWorld(t)
	x86, arm := w.want("x86"), w.want("arm")
	p := w.process("prod", "1")
	first, err := p.run(x86, arm)
	if err != nil {
		t.Fatal(err, w.log())
	}
	w.check(x86, arm)
	for _, said := range []string{"amd64: booting the rescue system", "arm64: downloading " + arm.URL, "amd64: taking the snapshot"} {
		if !slices.Contains(p.told, said) {
			t.Errorf("not told: %q of\n%s", said, strings.Join(p.told, "\n"))
		}
	}
	if text := strings.Join(p.told, "\n"); !strings.Contains(text, "wrote 0 MB") {
		t.Errorf("no progress:\n%s", text)
	}
	snapshots, _ := w.left()
	sum := sha256.Sum256(content(strings.TrimPrefix(x86.URL, w.factory.url)))
	if want := "Talos v1.14.1 amd64, schematic 376567988ad370138ad8b2698212367b, image sha256 " + hex.EncodeToString(sum[:]); !slices.ContainsFunc(
		[]string{snapshots[0].Description, snapshots[1].Description}, func(d string) bool { return d == want }) {
		t.Errorf("described as %q, not %q", snapshots[0].Description, want)
	}
	w.sim.ResetCalls()
	second, err := w.process("prod", "2").run(x86, arm)
	if err != nil || !slices.Equal(first, second) {
		t.Errorf("%v, %v: %v", first, second, err)
	}
	for _, c := range w.sim.Calls() {
		if c.Method != http.MethodGet {
			t.Errorf("the second run: %s", c)
		}
	}
}

// TestOverHTTP: the same over real HTTP, each request and answer compared with
// the description of the API.
func TestOverHTTP(t *testing.T) {
	w := newWorld(t)
	p := w.process("prod", "1")
	p.Project = cloud.New(cloud.Options{
		Endpoint: simtest.Serve(t, w.sim), Token: secret.New(w.sim.Token()), HTTP: http.DefaultTransport, Version: "test",
		Clock: w.clock, Rand: func() float64 { return 1 },
	})
	want := w.want("arm")
	if _, err := p.run(want); err != nil {
		t.Fatal(err)
	}
	w.check(want)
}

func (w *world) log() string {
	var text string
	for _, c := range w.sim.Calls() {
		text += "\n" + c.String()
	}
	return text
}

// TestCrashAnywhere: whichever call of a build fails, before its effect or after
// it, and whatever becomes of the run then, the next run ends with one snapshot
// of each architecture and nothing else.
func TestCrashAnywhere(t *testing.T) {
	for _, tt := range []struct {
		name string
		then func(p *process) // what becomes of the process
	}{
		{"killed", (*process).kill},
		{"interrupted", func(p *process) { p.stop() }},
		{"goes on", func(*process) {}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			want := w.want("x86")
			before := w.sim.Snapshot()
			if _, err := w.process("prod", "1").run(want); err != nil {
				t.Fatal(err)
			}
			calls := w.sim.Calls()
			t.Logf("%d calls", len(calls))
			for _, when := range []hetznersim.When{hetznersim.BeforeEffect, hetznersim.AfterEffect} {
				for k := range calls {
					w.sim.Restore(before)
					w.sim.ResetCalls()
					p := w.process("prod", "1")
					w.sim.Inject(hetznersim.Fault{Call: k + 1, When: when, As: hetznersim.Drop(), Then: func() { tt.then(p) }})
					_, err := p.run(want)
					if tt.name == "goes on" && err != nil {
						t.Fatalf("call %d (%s), %d: %v", k+1, calls[k], when, err)
					}
					w.sim.ClearFaults()
					if _, err := w.process("prod", "2").run(want); err != nil {
						t.Fatalf("call %d (%s), %d: the next run: %v%s", k+1, calls[k], when, err, w.log())
					}
					if w.check(want); t.Failed() {
						t.Fatalf("call %d (%s), %d:%s", k+1, calls[k], when, w.log())
					}
				}
			}
		})
	}
}

// TestWriteFails: what goes wrong with the image itself. Never is there a
// snapshot of a disk without the whole image, or something left over.
func TestWriteFails(t *testing.T) {
	short := func(w http.ResponseWriter) bool {
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write([]byte("half"))
		return true
	}
	missing := func(w http.ResponseWriter) bool { http.Error(w, "no such schematic", http.StatusNotFound); return true }
	for _, tt := range []struct {
		name   string
		fail   func(http.ResponseWriter) bool
		times  int
		digest string
		err    string
	}{
		{"cut short once", short, 1, "", ""},
		{"cut short always", short, 9, "", "the download failed: unexpected EOF"},
		{"not there", missing, 9, "", "the download failed: 404 Not Found\n  --image-url takes the image from elsewhere; "},
		{"another digest", nil, 0, strings.Repeat("0", 64), "the download has the digest "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			want := w.want("x86")
			times := tt.times
			w.factory.fail = func(rw http.ResponseWriter) bool {
				times--
				return times >= 0 && tt.fail(rw)
			}
			p := w.process("prod", "1")
			if tt.digest != "" {
				p.Mirrors = Mirrors{"": want.URL + "#sha256=" + tt.digest}
			}
			_, err := p.run(want)
			if tt.err == "" {
				if err != nil {
					t.Fatal(err)
				}
				w.check(want)
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.err) || diag.CodeOf(err) != diag.Remote {
				t.Errorf("error %v (exit code %d), want %q", err, diag.CodeOf(err), tt.err)
			}
			w.check()
		})
	}
}

// TestSoldOut: another type, elsewhere, with a disk that is small enough.
func TestSoldOut(t *testing.T) {
	w := newWorld(t)
	want := w.want("x86")
	want.BuilderType, want.BuilderLocation = "cpx22", "hel1"
	w.sim.Inject(hetznersim.Fault{Method: "POST", Path: "/servers", As: hetznersim.Status(0, "resource_unavailable", "sold out"), Times: 2})
	p := w.process("prod", "1")
	if _, err := p.run(want); err != nil {
		t.Fatal(err)
	}
	w.check(want)
	told := strings.Join(p.told, "\n")
	for _, text := range []string{"making a server to build it: cpx22 in hel1 (as asked for)",
		"cpx22 in hel1 is sold out, trying cx23 in ", "cx23 in fsn1 is sold out, trying cx23 in "} {
		if !strings.Contains(told, text) {
			t.Errorf("no word of %q:\n%s", text, told)
		}
	}
	w = newWorld(t)
	w.sim.Inject(hetznersim.Fault{Method: "POST", Path: "/servers", As: hetznersim.Status(0, "resource_unavailable", "sold out"), Times: -1})
	_, err := w.process("prod", "1").run(want)
	if err == nil || !strings.Contains(err.Error(), "create a cpx22 in hel1: sold out") || !strings.Contains(err.Error(), "8 problems") {
		t.Errorf("error %v", err)
	}
	w.check()
}

// TestTwoRuns: of two clusters that want the same image at once, one makes it,
// and the other waits for it.
func TestTwoRuns(t *testing.T) {
	w := newWorld(t)
	want := w.want("x86")
	first, second := w.process("prod", "1"), w.process("dev", "2")
	begun, done := make(chan struct{}), make(chan struct{})
	w.sim.Inject(hetznersim.Fault{Method: "POST", Path: "/servers/*/actions/enable_rescue", When: hetznersim.AfterEffect, As: hetznersim.Slow(0), Then: func() { close(begun) }})
	second.Clock = patient{w.clock, done}
	ids, errs := make([][]int64, 2), make([]error, 2)
	var both sync.WaitGroup
	both.Go(func() { ids[0], errs[0] = first.run(want); close(done) })
	both.Go(func() { <-begun; ids[1], errs[1] = second.run(want) })
	both.Wait()
	if errs[0] != nil || errs[1] != nil || !slices.Equal(ids[0], ids[1]) {
		t.Errorf("%v, %v", ids, errs)
	}
	if told := strings.Join(second.told, "\n"); !strings.Contains(told, "ann-desk makes the same image") && !strings.Contains(told, "waiting for the snapshot") {
		t.Errorf("the second one says\n%s", told)
	}
	w.check(want)
}

// patient is a clock on which waiting for another run takes until that is done.
type patient struct {
	*hetznersim.ScriptedClock
	done <-chan struct{}
}

func (p patient) Sleep(ctx context.Context, d time.Duration) error {
	if d != othersPause {
		return p.ScriptedClock.Sleep(ctx, d)
	}
	<-p.done
	return ctx.Err()
}

// TestLeftOver: what a dead run of another cluster left is removed when its time
// is over, not before; what is something else is not touched.
func TestLeftOver(t *testing.T) {
	w := newWorld(t)
	want := w.want("x86")
	p := w.process("prod", "1")
	w.sim.Inject(hetznersim.Fault{Method: "POST", Path: "/servers/*/actions/create_image", As: hetznersim.Drop(), Then: p.kill})
	if _, err := p.run(want); err == nil {
		t.Fatal("it survived")
	}
	w.sim.ClearFaults()
	other := w.process("dev", "2")
	if removed, err := other.Project.CollectBuilders(t.Context(), "dev"); err != nil || len(removed) > 0 {
		t.Errorf("removed %v: %v", removed, err)
	}
	w.clock.Advance(3 * time.Hour)
	removed, err := other.Project.CollectBuilders(t.Context(), "dev")
	if want := []string{"talosgen-image-v1-14-1-376567988ad37013-amd64", "talosgen-image-v1-14-1-376567988ad37013-amd64-1"}; err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %v: %v", removed, err)
	}
	w.check()
}

// TestPrivateKeyStays: the private key of a build is in nothing that leaves the
// process.
func TestPrivateKeyStays(t *testing.T) {
	w := newWorld(t)
	p := w.process("prod", "1")
	seed := make([]byte, 32) // the key is made of the first bytes of randomness
	if _, err := io.ReadFull(seeded('1'), seed); err != nil {
		t.Fatal(err)
	}
	k, err := newKey(seeded('1'))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.run(w.want("x86")); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(append(p.sent, p.told...), "\n")
	if !strings.Contains(text, strings.Fields(k.Public())[1]) {
		t.Fatal("the public key was not sent: this test tests nothing")
	}
	for _, form := range []string{string(seed), hex.EncodeToString(seed), base64.StdEncoding.EncodeToString(seed)[:40], "PRIVATE KEY"} {
		if strings.Contains(text, form) {
			t.Errorf("%q was sent or told", form)
		}
	}
}

// TestUnreachable: a rescue system that does not answer.
func TestUnreachable(t *testing.T) {
	w := newWorld(t)
	p := w.process("prod", "1")
	p.Dial = func(context.Context, string) (net.Conn, error) { return nil, errors.New("no route") }
	_, err := p.run(w.want("x86"))
	if err == nil || diag.CodeOf(err) != diag.NotReady || !strings.Contains(err.Error(), "cannot be reached by SSH: no route\n  does something") {
		t.Errorf("error %v", err)
	}
	w.check()
}
