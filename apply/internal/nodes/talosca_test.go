package nodes_test

import (
	"time"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/secret"
)

// rotatingTalos is a cluster whose tree is in a phase of the rotation of the authority of
// the Talos API, and its nodes in the one before.
func (w *world) rotatingTalos(phase int) {
	w.made("cp-1", "cp-2", "cp-3", "w-1", "w-2")
	for n := range phase {
		if n > 0 {
			w.mustApply(nodeplan.Policy{})
			w.steps()
			w.letsIn()
		}
		w.turnTalos()
	}
}

// turnTalos takes the tree one phase on.
func (w *world) turnTalos() {
	w.keys.TurnTalos()
	for name := range w.want {
		w.configure(name)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.renew = time.Time{} // credentials are those of the tree
}

// letsIn wants each node to let in who has a certificate of an authority that the tree
// trusts, and nobody else.
func (w *world) letsIn() {
	w.Helper()
	if !w.keys.Rotates() {
		return
	}
	w.fleet.ClearFaults()
	from := w.fleet.Clock().Now().Add(-time.Minute)
	for _, m := range w.machines {
		for _, pair := range w.keys.SignTrusted(from, "os:admin") {
			if err := w.asks(m, pair); err != nil {
				w.Errorf("%s does not let in whom Git trusts: %v", m.Name, err)
			}
		}
		for _, pair := range w.keys.SignForgotten(from, "os:admin") {
			if err := w.asks(m, pair); !node.AccessDenied(err) {
				w.Errorf("%s lets in whom Git does not trust any more: %v", m.Name, err)
			}
		}
	}
}

// asks asks a node with a certificate.
func (w *world) asks(m nodes.Machine, pair [2][]byte) error {
	w.Helper()
	client, err := node.Connect(node.Target{Name: m.Name, Address: m.Address}, w.through(),
		node.Credentials{Authority: w.keys.Authority(), Certificate: pair[0], Key: secret.New(string(pair[1]))}, w.fleet.Clock().Now)
	if err != nil {
		w.Fatal(err)
	}
	defer client.Close()
	_, err = client.Status(w.Context())
	return err
}
