package residue

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/render/internal/machine"
)

// ownKinds are the kinds of documents that are of one machine, and the key of what is its
// own there; empty: all of it.
var ownKinds = map[string]string{
	"HostnameConfig":    "hostname",
	"LinkConfig":        "addresses",
	"BondConfig":        "addresses",
	"BridgeConfig":      "addresses",
	"VLANConfig":        "addresses",
	"WireguardConfig":   "",
	"LinkAliasConfig":   "",
	"DHCPv4Config":      "clientIdentifier",
	"DHCPv6Config":      "clientIdentifier",
	machine.MainID.Kind: "machine.network.hostname machine.network.interfaces",
}

// own reports whether a value is one that no second machine can have: its name, its
// addresses, its devices. A layer of which it is the only machine is not its place, as
// the next machine there would get it too.
func (c Change) own() bool {
	keys, known := ownKinds[c.ID.Kind]
	if !known || c.Value == nil {
		return false
	}
	return keys == "" || slices.Contains(strings.Fields(keys), strings.Join(c.Path, "."))
}
