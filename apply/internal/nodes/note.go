package nodes

import (
	"context"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/nodeplan"
	"github.com/talosgen/talosgen/apply/nodeplan/bootstrap"
)

// Where the intents do not outlast a run, the control planes themselves note that
// a recovery has begun: in META, which nothing but another note changes. What is
// noted there is in three words: whose note it is, the node, and the snapshot.
const recoveryNote = "talosgen-recovery"

// noted is an intent that a control plane has noted, or the one that is known.
func (c *Cluster) noted(known bootstrap.Intent, sights []Sight) bootstrap.Intent {
	if !c.Forgetful || known != (bootstrap.Intent{}) {
		return known
	}
	for _, s := range sights {
		if words := strings.Fields(s.note); ownNote(s.note) {
			m, _ := c.machine(words[1])
			return bootstrap.Intent{Node: words[1], Machine: m.ID, Snapshot: words[2]}
		}
	}
	return known
}

func ownNote(text string) bool {
	words := strings.Fields(text)
	return len(words) == 3 && words[0] == recoveryNote
}

// note notes an intent on every control plane that can be asked; one that needs
// no note removes it. What others have noted there stays.
func (c *Cluster) note(ctx context.Context, i bootstrap.Intent) error {
	if !c.Forgetful {
		return nil
	}
	text := ""
	if i.Snapshot != "" && !i.Done {
		text = strings.Join([]string{recoveryNote, i.Node, i.Snapshot}, " ")
	}
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
