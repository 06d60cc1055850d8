package access

import (
	"bytes"
	"encoding/pem"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// RoleAdmin is the role that may do everything.
const RoleAdmin = "os:admin"

// Roles are the roles of Talos that a client certificate can be made for, as in
// Talos' pkg/machinery/role.
func Roles() []string { return []string{RoleAdmin, "os:operator", "os:reader", "os:etcd:backup"} }

// CheckRole refuses a role that Talos does not know.
func CheckRole(role string) error {
	if slices.Contains(Roles(), role) {
		return nil
	}
	p := diag.On("--role", "there is no role %q", role).WithCode(diag.Usage)
	return p.WithHint("%s", diag.Suggest(role, Roles()))
}

// Talosconfig puts a context into the configuration of talosctl, and makes it
// the current one. Nodes and other settings that the context had stay.
func (a *Authority) Talosconfig(r Request, role string, endpoints []string) (*File, error) {
	doc, err := r.parse()
	if err != nil {
		return nil, err
	}
	root := doc.Content[0]
	set(root, "context", scalar(r.Context))
	contexts, err := r.child(root, "contexts")
	if err != nil {
		return nil, err
	}
	context, err := r.child(contexts, r.Context)
	if err != nil {
		return nil, err
	}
	if old := text(context, "ca"); old != "" && !r.Replace && !a.same(old) {
		return nil, r.anotherCluster()
	}
	id, kept, err := r.identity(a, Subject{Groups: []string{role}}, Ed25519, text(context, "crt"), text(context, "key"))
	if err != nil {
		return nil, err
	}
	setSequence(context, "endpoints", endpoints)
	set(context, "ca", scalar(encode64(a.PEM())))
	set(context, "crt", scalar(encode64(id.Certificate)))
	set(context, "key", scalar(encode64([]byte(id.Key.Reveal()))))
	remove(context, "auth", "target") // they would go before the certificate, and beside the endpoints
	return r.file(doc, id, kept, style{indent: 4})
}

// same reports whether one of the authorities in a file is this one, or one that the
// cluster trusts as well.
func (a *Authority) same(text string) bool {
	data, _, err := decodePEM(text)
	for err == nil {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			return false
		}
		if bytes.Contains(a.PEM(), bytes.TrimSpace(pem.EncodeToMemory(block))) {
			return true
		}
	}
	return false
}

// setSequence sets a list, unless it is as it should be.
func setSequence(m *yaml.Node, key string, values []string) {
	if old := get(m, key); old != nil && old.Kind == yaml.SequenceNode {
		if slices.EqualFunc(old.Content, values, func(n *yaml.Node, v string) bool { return n.Value == v }) {
			return
		}
	}
	set(m, key, sequence(values))
}
