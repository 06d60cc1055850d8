package robot

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/rescue"
	"github.com/talosgen/talosgen/internal/diag"
)

//go:embed release.sh
var releaseScript string

const (
	// bootPause is between polls whether the rescue system has booted; it takes a minute
	// and a half. Robot allows 500 of them in an hour, for all programs together.
	bootPause = 10 * time.Second
	// bootPolls bounds them.
	bootPolls = 60
	// againAfter is how many polls a reset has whose answer was lost.
	againAfter = 20
	// writeTries bounds how often an image is written.
	writeTries = 3
	// progressStep is how many bytes are written between two messages.
	progressStep = 500_000_000
)

// Installer installs Talos on dedicated servers.
type Installer struct {
	Client  *Client
	Dial    image.Dialer
	Clock   cloud.Clock
	Random  io.Reader
	Mirrors image.Mirrors
	// Is called before each change, and ends the run if the lock of the cluster is lost.
	Keep func(context.Context) error
	// Takes back that a node was configured: its disk was written anew.
	Forget func(ctx context.Context, node string) error
	// Waits until a node asks for its configuration.
	Await func(ctx context.Context, node string) error
}

// Install installs Talos on the server of an entry of a plan. Notify is told what is
// being done. However it ends, the rescue system is not left active and no key is left
// at Robot; an error says in which state the server is.
func (i *Installer) Install(ctx context.Context, e Entry, notify func(string)) (err error) {
	key, err := rescue.NewKey(i.Random)
	if err != nil {
		return err
	}
	s := &session{Installer: i, Entry: e, key: key, notify: notify}
	defer func() { err = s.leave(ctx, err) }()
	for _, step := range []struct {
		say string
		do  func(context.Context) error
	}{
		{"activating the rescue system", s.activate},
		{"restarting into the rescue system", s.restart},
		{"connecting to the rescue system", s.connect},
		{"choosing the disk", s.choose},
		{"", s.write},
		{"restarting into Talos", s.start},
	} {
		if step.say != "" {
			notify(step.say)
		}
		if err := i.Keep(ctx); err != nil {
			return err
		}
		if err := step.do(ctx); err != nil {
			return err
		}
	}
	notify("waiting for Talos")
	return i.Await(ctx, e.Node)
}

// session is one installation.
type session struct {
	*Installer
	Entry
	key    rescue.Key
	notify func(string)
	at     progress

	before []string // host keys of earlier starts
	system *rescue.System
	source image.Source
	disk   disk
}

// progress is how far an installation is: what has to be taken back, and what has not.
type progress struct {
	keyed, active, reset, touched, written, started bool
	lost                                            bool // the answer to the reset
}

// activate lets the next start be that of the rescue system, for the key of this session.
func (s *session) activate(ctx context.Context) error {
	if s.Rescue.Active { // a run of talosgen was killed
		if err := s.Client.DeactivateRescue(ctx, s.Number); err != nil {
			return err
		}
	}
	if err := s.removeKeys(ctx); err != nil {
		return err
	}
	last, err := s.Client.LastRescue(ctx, s.Number)
	if err != nil {
		return err
	}
	s.before = last.HostKeys
	s.at.keyed = true
	if err := s.Client.AddKey(ctx, keyName(s.Number), s.key.Public()); err != nil {
		return err
	}
	s.at.active = true
	return s.Client.ActivateRescue(ctx, s.Number, s.key.MD5())
}

// removeKeys removes the keys of sessions for this server.
func (s *session) removeKeys(ctx context.Context) error {
	keys, err := s.Client.Keys(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.Name != keyName(s.Number) {
			continue
		}
		if err := s.Client.RemoveKey(ctx, k.Fingerprint); err != nil {
			return err
		}
	}
	return nil
}

// restart presses the reset button. A reset whose answer was lost has most likely
// happened, and a second one would end the rescue system that it began.
func (s *session) restart(ctx context.Context) error {
	s.at.reset = true
	err := s.Client.Reset(ctx, s.Number)
	s.at.lost = isLost(err)
	if s.at.lost {
		return nil
	}
	if err != nil {
		s.at.reset = false
	}
	return err
}

// connect waits until Robot names the host keys of the rescue system that has booted, and
// connects to the one that has them.
func (s *session) connect(ctx context.Context) error {
	keys, err := s.hostKeys(ctx)
	if err != nil {
		return err
	}
	s.system, err = rescue.Connect(ctx, rescue.Dialer(s.Dial), s.Clock, s.Server.address(), s.key, rescue.KnownHost(keys))
	if err != nil {
		return err
	}
	if err := s.Client.RemoveKey(ctx, s.key.MD5()); err != nil { // it has done its work
		return err
	}
	s.at.keyed, s.at.active = false, false
	return nil
}

// hostKeys are those of the rescue system that was activated: they are new with each
// start.
func (s *session) hostKeys(ctx context.Context) ([]string, error) {
	for poll := range bootPolls {
		last, err := s.Client.LastRescue(ctx, s.Number)
		switch {
		case err != nil:
			return nil, err
		case len(last.HostKeys) > 0 && !slices.Equal(slices.Sorted(slices.Values(last.HostKeys)), slices.Sorted(slices.Values(s.before))):
			return last.HostKeys, nil
		case s.at.lost && poll == againAfter:
			if err := s.resetAgain(ctx); err != nil {
				return nil, err
			}
		}
		if err := s.Clock.Sleep(ctx, bootPause); err != nil {
			return nil, err
		}
	}
	return nil, diag.On(s.object(), "Robot names no host key of its rescue system after %s", bootPolls*bootPause).WithCode(diag.NotReady).
		WithHint("look at its console: does it start from the network?")
}

// resetAgain presses the reset button again, if it was not pressed before.
func (s *session) resetAgain(ctx context.Context) error {
	now, err := s.Client.Rescue(ctx, s.Number)
	if err != nil || !now.Active {
		return err
	}
	return s.Client.Reset(ctx, s.Number)
}

func (s *session) object() string { return fmt.Sprintf("server %d (%s)", s.Number, s.Node) }

// choose finds the disk, and refuses one that holds something which nobody has agreed to
// lose.
func (s *session) choose(ctx context.Context) error {
	text, err := s.system.Run(ctx, disksScript, "disks")
	if err != nil {
		return diag.On(s.object(), "its rescue system does not say which disks there are: %v", err).WithCode(diag.Remote).WithCause(err)
	}
	h, err := parseHardware(text)
	if err != nil {
		return err
	}
	if s.disk, err = h.choose(s.Disk); err != nil {
		return err
	}
	if held := s.disk.holds(); held != "" && !s.Overwrite {
		return diag.On(s.object(), "the disk %s holds %s", s.disk, held).WithCode(diag.Differences).
			WithHint("if nothing of it is needed: --allow %s%s", ConsentDisk, s.Node)
	}
	s.source = s.Image.source(s.Mirrors, h.architecture)
	return nil
}

// write writes the image, which is read back.
func (s *session) write(ctx context.Context) error {
	s.at.touched = true
	if _, err := s.system.Run(ctx, releaseScript, "release"); err != nil {
		return diag.On(s.object(), "the disk cannot be taken from what uses it: %v", err).WithCode(diag.Remote).WithCause(err)
	}
	s.notify(fmt.Sprintf("overwriting %s with %s", s.disk, s.source.URL))
	for try := 1; ; try++ {
		next := int64(progressStep)
		_, err := s.system.Write(ctx, s.source, s.disk.DevPath, func(bytes int64) error {
			if bytes >= next {
				s.notify(fmt.Sprintf("wrote %d MB", bytes/1_000_000))
				next += progressStep
			}
			return s.Keep(ctx)
		})
		if err == nil {
			s.at.written = true
			return s.Forget(ctx, s.Node)
		}
		if ctx.Err() != nil || try == writeTries || !errors.Is(err, rescue.ErrAgain) {
			return err
		}
		s.notify(fmt.Sprintf("try %d: %v", try+1, err))
		if err := s.Clock.Sleep(ctx, bootPause); err != nil {
			return err
		}
	}
}

// start lets the server start from its disk. A second reset does no harm to Talos that
// waits for its configuration, so one whose answer was lost is done again.
func (s *session) start(ctx context.Context) error {
	if err := s.Client.DeactivateRescue(ctx, s.Number); err != nil {
		return err
	}
	err := s.Client.Reset(ctx, s.Number)
	if isLost(err) {
		err = s.Client.Reset(ctx, s.Number)
	}
	s.at.started = err == nil
	return err
}
