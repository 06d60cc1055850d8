package foreign

import (
	"bytes"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// Bundle takes the secrets of the cluster out of the configurations of its control
// planes, which must have the same ones.
func Bundle(machines []Machine) (*machine.Bundle, error) {
	var first *machine.Bundle
	var of string
	var text []byte
	for _, m := range machines {
		if m.Role != string(machine.ControlPlane) {
			continue
		}
		b, err := machine.BundleFromConfig([]byte(m.Text.Reveal()))
		if err != nil {
			return nil, diag.New(diag.Pos{File: m.File}, "%v", err).
				WithHint("the secrets of the cluster are taken from the configuration of a control plane, which must hold all of them").WithCode(diag.Secrets)
		}
		own, err := b.YAML()
		switch {
		case err != nil:
			return nil, err
		case first == nil:
			first, of, text = b, m.File, own
		case !bytes.Equal(own, text):
			return nil, diag.New(diag.Pos{File: m.File}, "has other secrets of a cluster than %s", of).
				WithHint("import the machines of one cluster at a time").WithCode(diag.Secrets)
		}
	}
	if first == nil {
		return nil, diag.On("the folder", "no configuration is that of a control plane").
			WithHint("an environment has control planes, and the secrets of the cluster are in their configurations").WithCode(diag.Secrets)
	}
	return first, sameToken(machines)
}

// sameToken refuses a machine that could not join the others: it is of another cluster.
func sameToken(machines []Machine) error {
	token := func(m Machine) string { return Value(m.Config, machine.MainID.Kind, "machine", "token") }
	for _, m := range machines {
		if token(m) != token(machines[0]) {
			return diag.New(diag.Pos{File: m.File}, "has another machine token than %s", machines[0].File).
				WithHint("import the machines of one cluster at a time").WithCode(diag.Secrets)
		}
	}
	return nil
}
