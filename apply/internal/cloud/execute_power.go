package cloud

import (
	"context"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/diag"
)

const (
	// shutdownTime is what an operating system gets to stop by itself: Talos
	// stops its pods, which may take 30 s each by default.
	shutdownTime = 2 * time.Minute
	// offTime is what Hetzner gets to cut the power.
	offTime = 2 * time.Minute
)

// switchOff switches the server off, once for all that it has to be off for:
// first as its operating system likes it, then the hard way.
func (u *serverUpdate) switchOff(ctx context.Context) error {
	if u.off || u.have.Status == string(hcloud.ServerStatusOff) {
		return nil
	}
	u.off = true
	err := u.await(ctx, "shut it down", func() (*hcloud.Action, *hcloud.Response, error) { return u.api.Server.Shutdown(ctx, u.server) })
	if err != nil {
		return err
	}
	// The end of that action means that the request was passed on, not more.
	if is, err := u.isOff(ctx, shutdownTime); is || err != nil {
		return err
	}
	err = u.await(ctx, "switch it off", func() (*hcloud.Action, *hcloud.Response, error) { return u.api.Server.Poweroff(ctx, u.server) })
	if err != nil {
		return err
	}
	is, err := u.isOff(ctx, offTime)
	if !is && err == nil {
		return diag.On(u.object, "it does not switch off").WithCode(diag.NotReady).WithHint(hintAgain)
	}
	return err
}

// isOff waits at most a while for the server to be off, and reports whether it
// is.
func (u *serverUpdate) isOff(ctx context.Context, within time.Duration) (bool, error) {
	until := u.clock.Now().Add(within)
	for n := 0; ; n++ {
		server, _, err := u.api.Server.GetByID(ctx, u.ID)
		switch {
		case err != nil:
			return false, explain(u.object, "read its status", err)
		case server == nil:
			return false, diag.On(u.object, "it is gone").WithCode(diag.Remote).WithHint(hintOther)
		case server.Status == hcloud.ServerStatusOff:
			return true, nil
		case u.clock.Now().After(until):
			return false, nil
		}
		if err := u.clock.Sleep(ctx, backoff(n, firstPoll, mostPoll, 1)); err != nil {
			return false, err
		}
	}
}

// restart starts the server again, if it was switched off for this change.
func (u *serverUpdate) restart(ctx context.Context, _ []plan.Field) error {
	if !u.off {
		return nil
	}
	u.off = false
	return u.powerOn(ctx, u.server)
}

// power starts a server that was found off.
func (u *serverUpdate) power(ctx context.Context, _ []plan.Field) error {
	return u.powerOn(ctx, u.server)
}

func (s *step) powerOn(ctx context.Context, server *hcloud.Server) error {
	return s.await(ctx, "start it", func() (*hcloud.Action, *hcloud.Response, error) { return s.api.Server.Poweron(ctx, server) })
}
