package nodes

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/nodeplan"
	"github.com/talosgen/talosgen/apply/nodeplan/bootstrap"
)

// Where the intents do not outlast a run, the control planes themselves note that
// a recovery has begun, or that one of them was called: in META, which nothing but
// another note changes. What is noted there is in five words: whose note it is, the
// node, the snapshot, the boot and the time of the call; a hyphen is none.
const (
	bootstrapNote = "talosgen-bootstrap"
	nothing       = "-"
)

// noted adds to an intent that is known what control planes have noted, also for
// other runs.
func (c *Cluster) noted(known bootstrap.Intent, sights []Sight) bootstrap.Intent {
	if !c.Forgetful || known.Done {
		return known
	}
	for _, s := range sights {
		n, ok := readNote(s.note)
		if !ok {
			continue
		}
		if known.Node == "" {
			m, _ := c.machine(n.Node)
			known.Node, known.Machine = n.Node, m.ID
		}
		known.Snapshot = cmp.Or(known.Snapshot, n.Snapshot)
		if n.CalledAt > known.CalledAt {
			known.CalledBoot, known.CalledAt = n.CalledBoot, n.CalledAt
		}
	}
	return known
}

// readNote reads a note; ok says whether it is one of ours.
func readNote(text string) (i bootstrap.Intent, ok bool) {
	words := strings.Fields(text)
	if len(words) != 5 || words[0] != bootstrapNote {
		return i, false
	}
	for n, word := range words {
		if word == nothing {
			words[n] = ""
		}
	}
	at, err := strconv.ParseInt(words[4], 10, 64)
	return bootstrap.Intent{Node: words[1], Snapshot: words[2], CalledBoot: words[3], CalledAt: at}, err == nil
}

// noteOf is the note of an intent; empty if it needs none.
func noteOf(i bootstrap.Intent) string {
	if i.Done || i.Snapshot == "" && i.CalledBoot == "" {
		return ""
	}
	return fmt.Sprintf("%s %s %s %s %d", bootstrapNote, i.Node, cmp.Or(i.Snapshot, nothing), cmp.Or(i.CalledBoot, nothing), i.CalledAt)
}

func ownNote(text string) bool {
	_, ok := readNote(text)
	return ok
}

// note notes an intent on every control plane that can be asked; one that needs
// no note removes it. What others have noted there stays.
func (c *Cluster) note(ctx context.Context, i bootstrap.Intent) error {
	if !c.Forgetful {
		return nil
	}
	text := noteOf(i)
	sights, err := c.planes(ctx)
	if err != nil {
		return err
	}
	for _, s := range sights {
		if s.Reach != nodeplan.Configured || s.note == text || s.note != "" && !ownNote(s.note) {
			continue
		}
		err := c.with(s.Machine.Name, func(client *node.Client) error {
			_, err := client.WriteNote(ctx, text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
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
