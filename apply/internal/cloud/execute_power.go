package cloud

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

const (
	// shutdownTime is what an operating system gets to stop by itself: Talos
	// stops its pods, which may take 30 s each by default.
	shutdownTime = 2 * time.Minute
	// offTime is what Hetzner gets to cut the power.
	offTime = 2 * time.Minute
	// backOnTime is what it may take, after an interrupt too, until a server runs
	// that was switched off: an action that has begun ends first, and to change a
	// type with its disk takes minutes.
	backOnTime = 10 * time.Minute
	// backOnTries bounds how often such a server is started.
	backOnTries = 5
)

// switchOff switches the server off, once for all that it has to be off for:
// first as its operating system likes it, then the hard way. A label says so
// before: a run that dies then leaves a server of which the next one knows why it
// is off.
func (u *serverUpdate) switchOff(ctx context.Context) error {
	if u.off || u.have.Status == string(hcloud.ServerStatusOff) {
		return nil
	}
	if err := u.noteOff(ctx, u.why()); err != nil {
		return err
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

// why names the fields that the server has to be off for, as a label takes them.
func (u *serverUpdate) why() string {
	var names []string
	for _, f := range u.Fields {
		if f.Class == cloudplan.PowerOff {
			names = append(names, f.Name)
		}
	}
	return labelValue(strings.Join(names, "."))
}

// noteOff notes at the server what it is off for; nothing, when it is on again.
func (u *serverUpdate) noteOff(ctx context.Context, why string) error {
	u.noted = true
	labels := cloudplan.MergeLabels(u.want.Labels, u.have.Labels)
	labels[schemas.LabelOff] = why
	if why == "" {
		delete(labels, schemas.LabelOff)
	}
	_, _, err := u.api.Server.Update(ctx, u.server, hcloud.ServerUpdateOpts{Labels: labels})
	if err == nil {
		u.noted = why != ""
	}
	return explain(u.object, "note that it is off for a change", err)
}

// isOff waits at most a while for the server to be off, and reports whether it
// is. The while is over by the clock, and also by the pauses: a clock that is set
// back makes it no longer.
func (u *serverUpdate) isOff(ctx context.Context, within time.Duration) (bool, error) {
	until, paused := u.clock.Now().Add(within), time.Duration(0)
	for n := 0; ; n++ {
		server, _, err := u.api.Server.GetByID(ctx, u.ID)
		switch {
		case err != nil:
			return false, explain(u.object, "read its status", err)
		case server == nil:
			return false, diag.On(u.object, "it is gone").WithCode(diag.Remote).WithHint(hintOther)
		case server.Status == hcloud.ServerStatusOff:
			return true, nil
		case paused >= within || u.clock.Now().After(until):
			return false, nil
		}
		pause := backoff(n, firstPoll, mostPoll, 1)
		if err := u.clock.Sleep(ctx, pause); err != nil {
			return false, err
		}
		paused += pause
	}
}

// restart starts the server again, if it was switched off for this change.
func (u *serverUpdate) restart(ctx context.Context, _ []cloudplan.Field) error {
	if u.off {
		if err := u.client.backOn(ctx, u.object, u.ID); err != nil {
			return err
		}
		u.off = false
	}
	if u.noted {
		return u.noteOff(ctx, "")
	}
	return nil
}

// power starts a server that was found off.
func (u *serverUpdate) power(ctx context.Context, _ []cloudplan.Field) error {
	if err := u.powerOn(ctx, u.server); err != nil {
		return err
	}
	if u.have.Labels[schemas.LabelOff] == "" {
		return nil
	}
	return u.noteOff(ctx, "")
}

// neverOff ends a change: whatever it failed with, and also when it is
// interrupted, the server does not stay off that was switched off for it.
func (u *serverUpdate) neverOff(ctx context.Context, failed error) error {
	if failed == nil || !u.off && !u.noted {
		return failed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), backOnTime)
	defer cancel()
	var problems diag.List
	problems.AddErr(failed)
	if u.off && u.have.Status != string(hcloud.ServerStatusOff) {
		// It may have been told to stop a moment ago, and would, once it was started.
		_, err := u.isOff(ctx, shutdownTime)
		problems.AddErr(err)
	}
	problems.AddErr(u.restart(ctx, nil))
	if u.off {
		problems.Add(diag.On(u.object, "it is off, because of a change that failed").WithCode(diag.Remote).
			WithHint("the next `talosgen apply` switches it on"))
	}
	return problems.Err()
}

// backOn starts a server that must not stay off.
func (c *Client) backOn(ctx context.Context, object string, id int64) (err error) {
	for n := range backOnTries {
		if n > 0 {
			if serr := c.clock.Sleep(ctx, backoff(n, firstPoll, mostPoll, 1)); serr != nil {
				return err
			}
		}
		action, _, aerr := c.api.Server.Poweron(ctx, &hcloud.Server{ID: id})
		if aerr == nil {
			aerr = c.waiter.wait(ctx, action)
		}
		if err = explain(object, "start it", aerr); err == nil {
			return nil
		}
		if code := diag.CodeOf(err); gone(err) || code == diag.Secrets || code == diag.Conflict || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// SwitchOn starts a server that a run has left off, if it is off still, and forgets
// that.
func (c *Client) SwitchOn(ctx context.Context, s cloudplan.Server) error {
	object := "server " + s.Name
	server, _, err := c.api.Server.GetByID(ctx, s.ID)
	if err != nil || server == nil || server.Labels[schemas.LabelOff] == "" {
		return explain(object, "read its status", err)
	}
	if server.Status == hcloud.ServerStatusOff {
		if err := c.backOn(ctx, object, s.ID); err != nil {
			return err
		}
	}
	labels := maps.Clone(server.Labels)
	delete(labels, schemas.LabelOff)
	_, _, err = c.api.Server.Update(ctx, server, hcloud.ServerUpdateOpts{Labels: labels})
	return explain(object, "note that it is on again", err)
}

func (s serverStep) powerOn(ctx context.Context, server *hcloud.Server) error {
	return s.await(ctx, "start it", func() (*hcloud.Action, *hcloud.Response, error) { return s.api.Server.Poweron(ctx, server) })
}
