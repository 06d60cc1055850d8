package apply

import (
	"context"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

// TestSilentControlPlane: a control plane that is switched off, so that nobody
// even refuses a connection to it, keeps no run from the API of the others, nor
// from the lock that is kept there.
func TestSilentControlPlane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStaticSite(t, "cp-1", "cp-2", "cp-3")
		s.mustApply(Policy{})
		session := s.session()
		dial := session.connect.reach.dial
		session.connect.reach.dial = func(ctx context.Context, address string) (net.Conn, error) {
			if address == "192.0.2.1:6443" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return dial(ctx, address)
		}
		err := session.lock.locked(t.Context(), Owner{Name: "ann@desk", Run: "x1"}, func() error {
			if session.lock.held.lock == nil || s.holder() != "ann@desk x1" {
				t.Errorf("held by %q, told\n%s", s.holder(), s.told.String())
			}
			return session.lock.held.keep(t.Context())
		})
		if err != nil || s.holder() != "" {
			t.Errorf("%v, held by %q afterwards", err, s.holder())
		}
	})
}

// TestNobodyReached: a new cluster whose machines do not answer is not waited for
// again, once they have not been reached: nothing was bootstrapped.
func TestNobodyReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.tree("cp-1", "worker-1")
		session := s.session(func(c *Cloud) {
			c.Nodes.Kubernetes = true
			c.Nodes.Dial = func(context.Context, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }
		})
		p, err := session.Plan(t.Context(), Policy{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = session.Apply(t.Context(), p, Policy{}, s.owner())
		if want := "etcd: is not bootstrapped: control plane nodes are not reached: cp-1"; diag.CodeOf(err) != diag.NotReady || !strings.Contains(err.Error(), want) {
			t.Errorf("(%d) %v, want %s", diag.CodeOf(err), err, want)
		}
		if passed := s.fleet.Clock().Now().Sub(siteStart); passed > 10*time.Minute {
			t.Errorf("that took %s", passed)
		}
	})
}
