package apply

import (
	"context"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/plan/lineage"
)

// TestSilentAPI: whoever only looks does not ask an API of Kubernetes again that does
// not answer at all, and one that refuses for some seconds only, as while it starts.
func TestSilentAPI(t *testing.T) {
	for _, tt := range []struct {
		name    string
		err     error
		rounds  int64
		atLeast time.Duration // of waiting
	}{
		{"blackholed", os.ErrDeadlineExceeded, 1, 0},
		{"refused", syscall.ECONNREFUSED, 4, observeWithin / 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t)
				s.tree("cp-1", "cp-2", "cp-3", "worker-1")
				s.mustApply(Policy{})
				session := s.session()
				dial, asked := session.connect.reach.dial, atomic.Int64{}
				session.connect.reach.dial = func(ctx context.Context, address string) (net.Conn, error) {
					if strings.HasSuffix(address, ":"+apiPort) {
						asked.Add(1)
						return nil, &net.OpError{Op: "dial", Net: "tcp", Err: tt.err}
					}
					return dial(ctx, address)
				}
				begin := s.fleet.Clock().Now()
				p, err := session.Plan(t.Context(), Policy{})
				waited := s.fleet.Clock().Now().Sub(begin)
				if err != nil || len(p.Nodes.Unreachable) > 0 {
					t.Fatalf("%v\n%s", err, p)
				}
				if n := asked.Load(); n != 3*tt.rounds || waited < tt.atLeast || waited > observeWithin {
					t.Errorf("%d connections for 3 control planes, waited %v", n, waited)
				}
				if err := session.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestSilentAPIOfInfrastructure: a plan that leaves nodes out asks the API only how
// old the tree is, and for no longer than one that waits for nothing else.
func TestSilentAPIOfInfrastructure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStaticSite(t, "cp-1", "worker-1")
		s.from(firstCommit, lineage.Unknown)
		s.mustApply(Policy{})
		session := s.session()
		dial := session.connect.reach.dial
		session.connect.reach.dial = func(ctx context.Context, address string) (net.Conn, error) {
			if strings.HasSuffix(address, ":"+apiPort) {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.EHOSTUNREACH}
			}
			return dial(ctx, address)
		}
		begin := s.fleet.Clock().Now()
		p, err := session.Plan(t.Context(), Policy{Stages: []Stage{StageInfrastructure}})
		if waited := s.fleet.Clock().Now().Sub(begin); err != nil || waited > observeWithin {
			t.Fatalf("%v, waited %v\n%s", err, waited, p)
		}
		if err := session.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
