package apply

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// from is a snapshot in a file.
func from(file string, data []byte) *Recovery {
	return &Recovery{File: file, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// recover plans and applies with a snapshot; what is wrong with it comes first.
func (s *site) recover(ctx context.Context, r *Recovery) error {
	s.Helper()
	session := s.session(func(c *Cloud) { c.Nodes.Recovery = r })
	defer func() {
		if err := session.Close(context.Background()); err != nil {
			s.Error(err)
		}
	}()
	p, err := session.Plan(ctx, Policy{})
	if err != nil {
		return err
	}
	if err := session.CheckRecovery(ctx, p); err != nil {
		return err
	}
	_, err = session.Apply(ctx, p, Policy{}, s.owner())
	return err
}

// refuses wants an error that says something, and no violation.
func (s *site) refuses(r *Recovery, code diag.Code, says string) {
	s.Helper()
	if err := s.recover(s.Context(), r); diag.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		s.Errorf("error (%d) %v, want (%d) %q", diag.CodeOf(err), err, code, says)
	}
	if v := s.fleet.Violations(); len(v) > 0 {
		s.Fatal(v)
	}
}

// reset takes the last control plane out, and wipes it.
func (s *site) reset(name string) {
	s.Helper()
	s.fleet.LetEnd()
	session := s.session()
	out := Removal{Nodes: []string{name}, Wipe: true}
	p, err := session.PlanRemoval(s.Context(), out)
	if err != nil {
		s.Fatal(err)
	}
	if _, err := session.Remove(s.Context(), p, out, s.owner()); err != nil {
		s.Fatal(err)
	}
	if err := session.Close(s.Context()); err != nil {
		s.Fatal(err)
	}
}

// TestRecovery brings an etcd back that was lost. It is killed before etcd is
// made: then, whoever forgets the snapshot or takes another one is refused, for
// the labels of the network tell of it.
func TestRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.tree("cp-1", "worker-1")
		s.mustApply(Policy{})
		session := s.session()
		if _, err := session.SaveEtcd(t.Context(), func(name string, write func(io.Writer) error) (string, error) { return name, write(&s.saved) }); err != nil {
			t.Fatal(err)
		}
		_ = session.Close(t.Context())
		encrypted := from("saved.db.age", bytes.Clone(s.saved.Bytes()))
		database := make([]byte, 1024)
		sum := sha256.Sum256(database)
		other := from("other.db", append(database, sum[:]...))

		s.refuses(encrypted, diag.Usage, "saved.db.age: there is no etcd to recover")
		s.reset("cp-1")
		s.refuses(from("half.db", database), diag.Remote, "is not whole")
		s.refuses(nil, diag.Remote, "was bootstrapped before")

		ctx, kill := context.WithCancel(t.Context())
		s.fleet.Inject(talossim.Fault{Method: "EtcdRecover", Then: kill})
		if err := s.recover(ctx, encrypted); diag.CodeOf(err) != diag.Interrupted {
			t.Fatal(err)
		}
		s.fleet.ClearFaults()
		s.refuses(nil, diag.Remote, "another run began to recover it from the snapshot")
		s.refuses(other, diag.Remote, "and this is another one")

		// Killed after etcd was made, it goes on with the snapshot, and without.
		ctx, kill = context.WithCancel(t.Context())
		s.fleet.Inject(talossim.Fault{Method: "Bootstrap", After: true, Then: kill})
		if err := s.recover(ctx, encrypted); diag.CodeOf(err) != diag.Interrupted {
			t.Fatal(err)
		}
		if err := s.fleet.Clock().Sleep(t.Context(), 5*time.Minute); err != nil {
			t.Fatal(err)
		}
		s.refuses(other, diag.Usage, "etcd serves already; the snapshot would be ignored")
		if err := s.recover(t.Context(), encrypted); err != nil {
			t.Fatal(err)
		}
		s.refuses(encrypted, diag.Usage, "there is no etcd to recover")
		if p, _ := s.mustApply(Policy{}); !p.Empty() {
			t.Errorf("then\n%s", p)
		}
	})
}

// TestStaticRecovery: machines that exist already note on themselves that a
// recovery has begun; nothing else could tell.
func TestStaticRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStaticSite(t, "cp-1", "worker-1")
		s.mustApply(Policy{})
		session := s.session()
		if _, err := session.SaveEtcd(t.Context(), func(name string, write func(io.Writer) error) (string, error) { return name, write(&s.saved) }); err != nil {
			t.Fatal(err)
		}
		saved := from("saved.db.age", bytes.Clone(s.saved.Bytes()))
		s.reset("cp-1")
		ctx, kill := context.WithCancel(t.Context())
		s.fleet.Inject(talossim.Fault{Method: "EtcdRecover", Then: kill})
		if err := s.recover(ctx, saved); diag.CodeOf(err) != diag.Interrupted {
			t.Fatal(err)
		}
		s.fleet.ClearFaults()
		s.refuses(nil, diag.Remote, "another run began to recover it from the snapshot")
		if err := s.recover(t.Context(), saved); err != nil {
			t.Fatal(err)
		}
		if p, _ := s.mustApply(Policy{}); !p.Empty() {
			t.Errorf("then\n%s", p)
		}
	})
}
