package reach

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/reach/reachtest"
)

// mute is the address of a server that accepts connections, and says nothing.
func mute(t *testing.T) string {
	t.Helper()
	held := make(chan struct{})
	t.Cleanup(func() { close(held) })
	return reachtest.Listen(t, func(c net.Conn) {
		<-held
		_ = c.Close()
	})
}

// TestJumps: the first bastion that lets one in leads to the nodes, and the next
// connection goes there at once.
func TestJumps(t *testing.T) {
	good, other := reachtest.Start(t), reachtest.Start(t)
	b := bastion(good)
	b.Name = "prod-nat-gateway-2"
	for name, ill := range map[string]func() Bastion{
		"refuses": func() Bastion { i := bastion(other); i.Address = nobody(t); return i },
		"is mute": func() Bastion { i := bastion(other); i.Address = mute(t); return i },
		"shows another key": func() Bastion {
			i := bastion(other)
			i.HostKey = reachtest.Start(t).KnownHost()
			return i
		},
		"accepts no key": func() Bastion { i := bastion(other); i.Signers = good.Signers; return i },
	} {
		t.Run(name, func(t *testing.T) {
			j, err := NewJumps(Direct{}, ill(), b)
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			checkCarries(t, j, echo(t))
			checkCarries(t, j, echo(t))
			if order := j.order(); order[0].bastion.Name != b.Name {
				t.Errorf("next is %s", order[0])
			}
		})
	}
}

// TestJumpsErrors: without any that lets one in, what another try may change is told, and
// that all are refused for good is known.
func TestJumpsErrors(t *testing.T) {
	s := reachtest.Start(t)
	down, wrong := bastion(s), bastion(s)
	down.Address, wrong.HostKey = nobody(t), reachtest.Start(t).KnownHost()
	for name, c := range map[string]struct {
		all     []Bastion
		want    string
		refused bool
	}{
		"one":          {[]Bastion{down}, "refuses connections", false},
		"both":         {[]Bastion{down, down}, "refuses connections", false},
		"one for good": {[]Bastion{wrong, down}, "refuses connections", false},
		"all for good": {[]Bastion{wrong, wrong}, "shows the host key", true},
	} {
		j, err := NewJumps(Direct{}, c.all...)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) || Refused(err) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewJumps(Direct{}, down, Bastion{Name: "gw"}); err == nil {
		t.Error("a host key is not known, and that is no error")
	}
}

// TestProve: a bastion proves itself by its host key alone, to whoever has no key.
func TestProve(t *testing.T) {
	s := reachtest.Start(t)
	none := bastion(s)
	none.Signers = nil
	if err := Prove(t.Context(), none, Direct{}); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Bastion){
		"shows the host key SHA256:": func(b *Bastion) { b.HostKey = reachtest.Start(t).KnownHost() },
		"refuses connections":        func(b *Bastion) { b.Address = nobody(t) },
		"is not known":               func(b *Bastion) { b.HostKey = "" },
		"ended the connection": func(b *Bastion) {
			b.Address = reachtest.Listen(t, func(c net.Conn) { _ = c.Close() })
		},
	} {
		b := none
		change(&b)
		if err := Prove(t.Context(), b, Direct{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	b := none
	b.Address = mute(t)
	if err := Prove(ctx, b, Direct{}); err == nil {
		t.Error("a mute one is proven")
	}
}
