package nodes

import (
	"context"

	"github.com/talosgen/talosgen/apply/internal/node"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
)

// recertified reports whether a node gets another certificate of its Talos API by a step,
// and with it whom it lets in: a worker learns that from the control plane that signs.
func recertified(s nodeplan.Step) bool {
	for _, c := range s.Changes {
		if nodeplan.OfTalosAuthority(c) || s.Role != nodeplan.ControlPlane && c.Path == "machine.token" {
			return true
		}
	}
	return false
}

// shows returns the fingerprint of the key of the certificate that a node shows now.
// Nothing is proven by it, and nobody is let in.
func (n configSteps) shows(ctx context.Context, m Machine) (string, error) {
	client, err := node.Maintenance(m.target(), n.Through, "")
	if err != nil {
		return "", err
	}
	defer client.Close()
	_, err = client.Status(ctx)
	if key := client.Fingerprint(); key != "" {
		return key, nil
	}
	return "", err
}

// certified applies a configuration by which a node gets another certificate, and waits
// until it shows it. Until then a worker that asks a control plane is told whom to trust
// as it was before, and keeps to that for hours.
func (n configSteps) certified(ctx context.Context, name string, notify func(string), apply func() error) error {
	m, ok := n.machine(name)
	if !ok {
		return diag.On("node "+name, "its address is unknown").WithCode(diag.Remote)
	}
	before, err := n.shows(ctx, m)
	if err != nil {
		return err
	}
	if err := apply(); err != nil {
		return err
	}
	patience := n.Patience.of(n.Patience.Certify)
	return n.wait(ctx, patience, "node "+name, "serving another certificate", notify, func(ctx context.Context) error {
		now, err := n.shows(ctx, m)
		if err == nil && now == before {
			return node.NotYet("it shows the one it had")
		}
		return err
	})
}
