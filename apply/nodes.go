package apply

import (
	"context"
	"net/netip"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/apply/reach"
)

// Nodes is how the nodes of a cluster are reached. The zero value leaves them
// out.
type Nodes struct {
	// Opens connections from this machine, or through a proxy.
	Dial image.Dialer
	// Keys to log in with on the server that leads to nodes without public
	// addresses; may be nil where there is none.
	Signers reach.Signers
	// Whether they run Kubernetes although Hetzner is simulated.
	Kubernetes bool
	// Where nodes are instead of where the tree and Hetzner say, by name.
	Endpoints map[string]string
	// Fingerprints of the keys that machines show in maintenance mode, by the names
	// of their nodes: these are taken for new ones, and no others are.
	Fingerprints map[string]string
	// Where it is kept which machines that exist already were configured; nil: for
	// as long as the session.
	Facts FactsFile
	// The public addresses of whoever runs this, to be let in; may be nil.
	Own func(context.Context) []netip.Addr
	// Who runs this, for others who find the session access.
	Owner Owner
	// Keeps snapshots of etcd, which are encrypted for the operators.
	Keep Keep
	// What a lost etcd is made from; nil: an etcd that is made is empty.
	Recovery *Recovery
}
