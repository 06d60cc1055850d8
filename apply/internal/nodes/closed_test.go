package nodes_test

import (
	"net"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/apply/reach/reachtest"
	"github.com/talosgen/talosgen/internal/diag"
)

// closedWays are ways to the nodes that nobody can go, and what is said of them.
// Only the last one may open by itself.
var closedWays = []struct {
	name  string
	wrong func(*testing.T, *reach.Bastion)
	want  string
	waits bool
}{
	{"a gateway that knows none of the keys", func(t *testing.T, b *reach.Bastion) {
		other := reachtest.NewSigner(t)
		b.Signers = func() ([]ssh.Signer, error) { return []ssh.Signer{other}, nil }
	}, "server gateway (127.0.0.1:", false},
	{"another server in its place", func(t *testing.T, b *reach.Bastion) {
		b.HostKey = string(ssh.MarshalAuthorizedKey(reachtest.NewSigner(t).PublicKey()))
	}, "shows the host key SHA256:", false},
	{"a gateway that starts", func(t *testing.T, b *reach.Bastion) {
		b.Address = reachtest.Listen(t, func(c net.Conn) { _ = c.Close() })
	}, "", true},
}

// TestClosedWay: nobody waits for a way to the nodes that does not open by itself,
// neither before a run nor in the middle of it.
func TestClosedWay(t *testing.T) {
	for _, tt := range closedWays {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorldOutside(t)
			w.boot("cp-1")
			server := reachtest.Start(t)
			b := reach.Bastion{Name: "gateway", Address: server.Address, User: "root", HostKey: server.KnownHost(), Signers: server.Signers}
			tt.wrong(t, &b)
			for what, do := range map[string]func(*nodes.Cluster, *nodeplan.Plan) error{
				"a look": func(c *nodes.Cluster, _ *nodeplan.Plan) error {
					_, err := c.Settled(t.Context(), []string{"cp-1"})
					return err
				},
				"a step": func(c *nodes.Cluster, p *nodeplan.Plan) error { return c.Executor(p)(t.Context(), p.Steps[0]) },
			} {
				c := w.cluster()
				p, err := w.plan(t.Context(), c, nodeplan.Policy{})
				if err != nil {
					t.Fatal(err)
				}
				if c.Through, err = reach.NewJump(b, reach.Direct{}); err != nil {
					t.Fatal(err)
				}
				c.Patience = nodes.Patience{Every: c.Patience.Settle / 2, Settle: c.Patience.Settle, Install: c.Patience.Settle}
				begin := w.fleet.Clock().Now()
				err = do(c, p)
				waited := w.fleet.Clock().Now().Sub(begin)
				switch {
				case tt.waits && waited < c.Patience.Settle:
					t.Errorf("%s: it waited %v only: %v", what, waited, err)
				case !tt.waits && (waited > 0 || diag.CodeOf(err) != diag.Secrets || !strings.Contains(err.Error(), tt.want)):
					t.Errorf("%s: after %v: (%d) %v", what, waited, diag.CodeOf(err), err)
				}
			}
		})
	}
}

// TestTold: a node that boots does not answer, which is told as what is waited for,
// and no less than what is wrong with the way to it.
func TestTold(t *testing.T) {
	for what, wrong := range map[string]func(*world, *nodes.Cluster){
		"waits until it is in maintenance mode: it does not answer yet": func(w *world, _ *nodes.Cluster) { w.fleet.Machine("cp-1").PowerOff() },
		"waits until it is in maintenance mode: read its stage: server gateway (127.0.0.1:": func(_ *world, c *nodes.Cluster) {
			b := reach.Bastion{Name: "gateway", Address: reachtest.Listen(t, func(c net.Conn) { _ = c.Close() }), User: "root"}
			server := reachtest.Start(t)
			b.HostKey, b.Signers = server.KnownHost(), server.Signers
			var err error
			if c.Through, err = reach.NewJump(b, reach.Direct{}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		w := newWorldOutside(t)
		w.boot("cp-1")
		c := w.cluster()
		p, err := w.plan(t.Context(), c, nodeplan.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		wrong(w, c)
		c.Patience.Install = c.Patience.Settle
		var notified []string
		c.Notify = func(step, text string) { notified = append(notified, step+" "+text) }
		if err := c.Executor(p)(t.Context(), p.Steps[0]); err == nil {
			t.Errorf("it did not wait for %s", what)
		}
		if want := "configure cp-1 " + what; len(notified) != 1 || !strings.HasPrefix(notified[0], want) {
			t.Errorf("told %q, want %q", notified, want)
		}
	}
}
