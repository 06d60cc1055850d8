package hetznersim

import (
	"cmp"
	"slices"
	"time"
)

// ref names a resource.
type ref struct {
	ID   int64  `json:"id"`
	Type string `json:"type"`
}

// action is something that takes time. Its effect comes when it ends.
type action struct {
	common   // the name is the command
	Status   string
	Finished time.Time // zero while it runs
	On       []ref     // the first is the one that it locks
	Error    *actionError

	after  int64        // the action that must end well before; 0 for none
	ends   time.Time    // when it is due
	fails  *actionError // how it will end, if not well
	finish effect       // what it does; nil for nothing
	undo   effect       // what it does if it fails; nil for nothing
}

type actionError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// effect changes a state. It holds no state of its own, so that it can be
// applied to a copy of the state that it was made for.
type effect func(st *state, now time.Time)

// Statuses of an action.
const (
	running   = "running"
	succeeded = "success"
	failed    = "error"
)

type actionView struct {
	ID        int64        `json:"id"`
	Command   string       `json:"command"`
	Status    string       `json:"status"`
	Progress  int          `json:"progress"`
	Started   time.Time    `json:"started"`
	Finished  *time.Time   `json:"finished"`
	Resources []ref        `json:"resources"`
	Error     *actionError `json:"error"`
}

// view returns the action as the API shows it at a time.
func (a *action) view(now time.Time) actionView {
	v := actionView{ID: a.ID, Command: a.Name, Status: a.Status, Progress: 100,
		Started: a.Created, Resources: a.On, Error: a.Error}
	if a.Status != running {
		v.Finished = &a.Finished
		return v
	}
	v.Progress = 0
	if whole := a.ends.Sub(a.Created); whole > 0 && now.After(a.Created) {
		v.Progress = min(99, int(100*now.Sub(a.Created)/whole))
	}
	return v
}

// job is an action to begin.
type job struct {
	command string
	on      []ref
	after   *action // what must end first; nil for nothing
	finish  effect
	undo    effect
}

// begin starts an action, which locks its first resource until it ends.
func (c *call) begin(j job) *action {
	a := &action{Status: running, On: j.on, finish: j.finish, undo: j.undo, fails: c.actionFault}
	a.common = common{ID: c.st.newID(), Name: j.command, Created: c.now}
	c.actionFault = nil
	starts := c.now
	if j.after != nil {
		starts, a.after = j.after.ends, j.after.ID
	}
	a.ends = starts.Add(c.cfg.ActionTime(j.command) + c.actionLate)
	c.actionLate = 0
	c.st.actions.put(a)
	c.st.running = with(c.st.running, a.ID)
	return a
}

// done makes an action that has ended within the call.
func (c *call) done(command string, on ...ref) *action {
	a := &action{Status: succeeded, Finished: c.now, On: on, ends: c.now}
	a.common = common{ID: c.st.newID(), Name: command, Created: c.now}
	if c.actionFault != nil {
		a.Status, a.Error, c.actionFault = failed, c.actionFault, nil
	}
	c.st.actions.put(a)
	return a
}

// later notes an effect that no action shows.
func (c *call) later(after time.Duration, e effect) {
	c.st.deferred = with(c.st.deferred, deferred{c.now.Add(after), c.st.newID(), e})
}

type deferred struct {
	at    time.Time
	order int64
	do    effect
}

// settle brings a state to a time: everything that is due happens, in order.
func (st *state) settle(now time.Time) {
	st.now = now
	for {
		a, d := st.nextAction(), st.nextDeferred()
		switch {
		case d != nil && !d.at.After(now) && (a == nil || d.at.Before(a.ends)):
			st.deferred = keep(st.deferred, func(x deferred) bool { return x.order != d.order })
			d.do(st, d.at)
		case a != nil && !a.ends.After(now):
			st.end(a)
		default:
			return
		}
	}
}

func (st *state) nextAction() *action {
	var next *action
	for _, id := range st.running {
		if a := st.actions.get(id); next == nil || a.ends.Before(next.ends) {
			next = a
		}
	}
	return next
}

func (st *state) nextDeferred() *deferred {
	if len(st.deferred) == 0 {
		return nil
	}
	next := slices.MinFunc(st.deferred, func(a, b deferred) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order))
	})
	return &next
}

// end ends an action and applies its effect.
func (st *state) end(a *action) {
	st.running = without(st.running, a.ID)
	do, fails := a.finish, a.fails
	if before := st.actions.get(a.after); before != nil && before.Error != nil {
		fails = before.Error
	}
	if fails != nil {
		do = a.undo
	}
	st.actions.change(a.ID, func(a *action) {
		a.Status, a.Finished, a.Error = succeeded, a.ends, fails
		if fails != nil {
			a.Status = failed
		}
		a.finish, a.undo = nil, nil
	})
	if do != nil {
		do(st, a.ends)
	}
}

// busy reports whether an action runs that locks a resource.
func (st *state) busy(on ref) bool {
	return slices.ContainsFunc(st.running, func(id int64) bool { return st.actions.get(id).On[0] == on })
}

// lock refuses a change of a resource while an action runs on it: a conflict for
// what is shared, "locked" for the others.
func (c *call) lock(on ref) error {
	if !c.st.busy(on) {
		return nil
	}
	switch on.Type {
	case "network", "firewall":
		return fail("conflict", "%s is being changed by another request", words(on.Type))
	}
	return fail("locked", "%s is locked", words(on.Type))
}
