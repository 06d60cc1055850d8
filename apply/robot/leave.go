package robot

import (
	"context"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

// leaveWithin is how long it may take to take back what a session did, also after an
// interrupt.
const leaveWithin = 2 * time.Minute

// leave takes back what a session did that has ended with err, and says in which state
// the server is.
func (s *session) leave(ctx context.Context, err error) error {
	if s.system != nil {
		s.system.Close()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer cancel()
	var problems diag.List
	problems.AddErr(err)
	restarted := false
	if s.at.active {
		waits, cause := s.deactivate(ctx)
		problems.AddErr(cause)
		s.at.reset = s.at.reset && !waits
	}
	if s.at.reset && !s.at.touched && err != nil {
		cause := s.Client.Reset(ctx, s.Number)
		problems.AddErr(cause)
		restarted = cause == nil
	}
	if s.at.keyed {
		problems.AddErr(s.Client.RemoveKey(ctx, s.key.MD5()))
	}
	if err != nil {
		problems.Add(diag.On(s.object(), "%s", s.at.state(restarted)).WithCode(diag.CodeOf(err)).WithHint("%s", s.at.next()))
	}
	return problems.Err()
}

// deactivate makes sure that the rescue system is not active. It reports whether it still
// was: then the server has not restarted.
func (s *session) deactivate(ctx context.Context) (waits bool, err error) {
	now, err := s.Client.Rescue(ctx, s.Number)
	if err == nil && !now.Active {
		return false, nil
	}
	return now.Active, s.Client.DeactivateRescue(ctx, s.Number)
}

// state says in which state a server was left.
func (p progress) state(restarted bool) string {
	switch {
	case p.started:
		return "Talos is on its disk, and it was restarted"
	case p.written:
		return "Talos is on its disk, and it runs the rescue system until it restarts"
	case p.touched:
		return "its disk is overwritten in part, and it runs the rescue system"
	case restarted:
		return "it was restarted from its disk, on which nothing was changed"
	case p.reset:
		return "it runs the rescue system until it restarts; nothing was changed on its disk"
	}
	return "it was not restarted, and nothing was changed on its disk"
}

// next says what to do then.
func (p progress) next() string {
	if p.started {
		return "if another of its disks has a boot loader, it may start that: look at its console; then run the same command again"
	}
	return "run the same command again"
}
