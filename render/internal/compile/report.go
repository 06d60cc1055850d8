package compile

import (
	"strings"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
)

// report adds what is found of one node, with the places in the sources that it
// is about.
type report struct {
	compiler *Compiler
	node     model.Node
	found    *Findings
	skip     func(file string) bool // patches that are left out
	secrets  []secret.String        // of the configuration, as soon as a text may hold one

	traced []machine.Traced // of the node, once it was asked for
	asked  bool
}

// add adds a text. The places of a warning are looked for once: most renders
// that warn go well, and are to stay fast.
func (r *report) add(text string, warning bool) {
	shown := secret.Hide(text, r.secrets, r.compiler.in.Public)
	key := finding{text: shown, warning: warning}
	if known, ok := r.found.says(shown, warning); ok && warning {
		r.found.add(r.node.Name, known)
		return
	}
	if !r.asked {
		r.asked = true
		// Without the places, which are only a help, the text is said all the same.
		r.traced, _ = r.compiler.traceWithout(r.node, r.skip)
	}
	places := machine.Blame(text, r.traced)
	if len(places) == 1 {
		key.pos = places[0]
	}
	if len(places) > 1 {
		all := make([]string, len(places))
		for i, p := range places {
			all[i] = p.String()
		}
		last := len(all) - 1
		key.maybe = strings.Join(all[:last], ", ") + " and " + all[last]
	}
	r.found.add(r.node.Name, key)
}

// noDisk adds that nothing says on which disk Talos is installed.
func (r *report) noDisk() {
	r.found.add(r.node.Name, finding{pos: r.node.Pos("name"), text: "installDisk or diskSelector is required for a static node, or a patch that selects its disk: " +
		"machine.install.diskSelector, or from contract v1.14 on provisioning.diskSelector of UnattendedInstallConfig"})
}
