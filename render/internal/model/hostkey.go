package model

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sshkey"
	"github.com/talosgen/talosgen/render/internal/placeholder"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/schemas"
)

// HasGateway reports whether the cluster has a NAT gateway.
func (m *Model) HasGateway() bool {
	return m.Config.Provider == schemas.Hetzner && *m.Config.Network.NATGateway.Enabled
}

// publicHostKey is the public SSH host key of the NAT gateway; empty if there
// is none.
func (m *Model) publicHostKey(s *secretsfile.Secrets) (string, error) {
	if !m.HasGateway() {
		return "", nil
	}
	if s == nil {
		return placeholder.SSHKey, nil
	}
	file := diag.Pos{File: m.Path(secretsfile.Name)}
	if s.SSHHostKey.IsZero() {
		return "", diag.New(file, "has no SSH host key (%s:) for the NAT gateway", secretsfile.KeySSHHostKey).
			WithHint("make one with `talosgen secrets sync %s`", m.Env).WithCode(diag.Secrets)
	}
	public, err := sshkey.Public(s.SSHHostKey)
	if err != nil {
		return "", diag.New(file, "%s %v", secretsfile.KeySSHHostKey, err).
			WithHint("take it out with `talosgen secrets edit %s`; `talosgen secrets sync %s` makes another", m.Env, m.Env).WithCode(diag.Secrets)
	}
	return public, nil
}
