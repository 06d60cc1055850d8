package nodes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
)

// Where the intents do not outlast a run, the control planes themselves note that
// a recovery has begun, that a run is about to call one of them, or that it does: in
// META, which nothing but another note changes. A note has five words: whose note it
// is, the node, the snapshot, the boot and the time; a hyphen is none. That of a run
// that only is about to call has two more: the run, and the control planes it was
// made on.
//
// Where intents do outlast it, and a lock keeps others out, the note of who calls is
// there too: what is recorded elsewhere may be read late, and the next run can follow
// soon on one that was interrupted.
const (
	bootstrapNote = "talosgen-bootstrap"
	nothing       = "-"
)

// readNote reads a note; ok says whether it is one of ours.
func readNote(text string) (n bootstrap.Note, ok bool) {
	words := strings.Fields(text)
	if len(words) != 5 && len(words) != 7 || words[0] != bootstrapNote {
		return n, false
	}
	for i, word := range words {
		if word == nothing {
			words[i] = ""
		}
	}
	at, err := strconv.ParseInt(words[4], 10, 64)
	if err != nil {
		return n, false
	}
	n = bootstrap.Note{Node: words[1], Snapshot: words[2], Boot: words[3], At: at}
	if len(words) == 7 {
		n.Run, n.Among = words[5], words[6]
	}
	return n, true
}

// writtenNote is how a note is written; empty: there is none.
func writtenNote(n bootstrap.Note) string {
	if n == (bootstrap.Note{}) {
		return ""
	}
	text := fmt.Sprintf("%s %s %s %s %d", bootstrapNote, n.Node, cmp.Or(n.Snapshot, nothing), cmp.Or(n.Boot, nothing), n.At)
	if n.Announced() {
		text += " " + n.Run + " " + n.Among
	}
	return text
}

// noteOf is the note of an intent: none if nobody else has to know of it.
func noteOf(i bootstrap.Intent) bootstrap.Note {
	if i.Done || i.Snapshot == "" && i.CalledBoot == "" {
		return bootstrap.Note{}
	}
	return bootstrap.Note{Node: i.Node, Snapshot: i.Snapshot, Boot: i.CalledBoot, At: i.CalledAt}
}

func ownNote(text string) bool {
	_, ok := readNote(text)
	return ok
}

// notebook is what a run keeps of the notes on control planes, and what it has
// announced there.
type notebook struct {
	seen map[bootstrap.Note]time.Time // since when
	mute map[string]bool              // the control planes that have nowhere to note anything
	own  bootstrap.Note               // what was announced in time
	at   time.Time                    // when that was done
}

// wall is the time by the wall clock: it goes on while the machine sleeps that
// this runs on.
func (b bootstrapper) wall() time.Time { return b.Clock.Now().Round(0) }

// noted adds to an observation what control planes have noted, also for other
// runs. began is when it began: what is noted was read after it.
func (b bootstrapper) noted(o *bootstrap.Observation, states []NodeState, began time.Time) {
	book := &b.notes
	if book.seen == nil {
		book.seen, book.mute = map[bootstrap.Note]time.Time{}, map[string]bool{}
	}
	for i, s := range states {
		p := &o.ControlPlanes[i]
		n, ok := readNote(s.note)
		// What others keep there stays.
		p.Mute = s.Reach != nodeplan.Configured || s.note != "" && !ok || book.mute[p.Name]
		if !ok {
			continue
		}
		if _, known := book.seen[n]; !known {
			book.seen[n] = b.wall()
		}
		p.Note, p.Seen = n, int64(began.Sub(book.seen[n])/time.Second)
		if b.Forgetful || holds(n, states) {
			o.Intent = b.begun(o.Intent, n)
		}
	}
	if !b.Forgetful {
		return
	}
	o.Run, o.Own, o.Age = b.Run, book.own, int64(began.Sub(book.at)/time.Second)
}

// holds reports whether a note is of a call to a boot that may still be: else what is
// recorded elsewhere is newer.
func holds(n bootstrap.Note, states []NodeState) bool {
	return n.Boot != "" && slices.ContainsFunc(states, func(s NodeState) bool {
		return s.Machine.Name == n.Node && (s.BootID == n.Boot || s.BootID == "")
	})
}

// begun adds to an intent that a run has begun: one that called, whom every other
// run follows, or one that recovers.
func (b bootstrapper) begun(known bootstrap.Intent, n bootstrap.Note) bootstrap.Intent {
	if known.Done || n.Announced() && n.Snapshot == "" {
		return known
	}
	if calls := n.Boot != "" && !n.Announced(); known.Node == "" || calls && known.Node != n.Node {
		m, _ := b.machine(n.Node)
		known.Node, known.Machine = n.Node, m.ID
	}
	known.Snapshot = cmp.Or(known.Snapshot, n.Snapshot)
	return known
}

// note notes something on control planes that were looked at, in place of what runs
// have noted there; the zero note removes that. Nothing is written from a moment on,
// and inTime says that all was written before it; the zero moment is no limit.
func (b bootstrapper) note(ctx context.Context, on []bootstrap.ControlPlane, n bootstrap.Note, before time.Time) (inTime bool, err error) {
	limited := !before.IsZero()
	late := func() bool { return limited && !b.wall().Before(before) }
	within := ctx
	if limited {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, before.Sub(b.wall()))
		defer cancel()
	}
	for i := range on {
		p := &on[i]
		if p.Mute || p.Note == n {
			continue
		}
		if late() {
			return false, nil
		}
		noted := false
		err := b.with(p.Name, func(client *node.Client) (err error) {
			noted, err = client.WriteNote(within, writtenNote(n))
			return err
		})
		switch {
		case err != nil && within.Err() != nil && ctx.Err() == nil:
			return false, nil
		case err != nil:
			return false, err
		case !noted && n != (bootstrap.Note{}):
			p.Mute, b.notes.mute[p.Name] = true, true
		default:
			p.Note = n
		}
	}
	return !late(), nil
}

// inHold is how long it may take to note what others have to know.
const inHold = bootstrap.Hold * time.Second / 2

// announce says on every control plane that this run is about to call, if it can
// be done with that soon after the look that found nobody else.
func (b bootstrapper) announce(ctx context.Context, n bootstrap.Note, on []bootstrap.ControlPlane, began time.Time) error {
	b.notes.own = bootstrap.Note{}
	inTime, err := b.note(ctx, on, n, began.Add(inHold))
	if inTime && err == nil {
		b.notes.own, b.notes.at = n, b.wall()
	}
	return err
}

// claim notes that this run calls. ok says that it may: a lock keeps others out,
// nobody can note anything, or it is still the turn of this run.
func (b bootstrapper) claim(ctx context.Context, n bootstrap.Note, on []bootstrap.ControlPlane) (ok bool, err error) {
	silent := !slices.ContainsFunc(on, func(p bootstrap.ControlPlane) bool { return !p.Mute })
	switch now := b.wall(); {
	case silent:
		return true, nil
	case !b.Forgetful || b.Run == "":
		return b.note(ctx, on, n, time.Time{})
	case !b.notes.own.Announced() || now.Sub(b.notes.at) >= bootstrap.Valid*time.Second:
		return false, nil
	default:
		return b.note(ctx, on, n, now.Add(inHold))
	}
}

// forget removes what a machine has noted, before it forgets everything else.
func forget(ctx context.Context, client *node.Client) error {
	text, err := client.Note(ctx)
	if err != nil || !ownNote(text) {
		return err
	}
	_, err = client.WriteNote(ctx, "")
	return err
}
