package apply

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
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
