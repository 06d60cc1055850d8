package apply

import (
	"context"
	"net/netip"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/node/reach"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Signers are the SSH keys of whoever runs apply.
type Signers = reach.Signers

// Nodes is how the nodes of a cluster are reached. The zero value leaves them
// out.
type Nodes struct {
	// Opens connections from this machine, or through a proxy.
	Dial Dialer
	// Keys to log in with on the server that leads to nodes without public
	// addresses; may be nil where there is none.
	Signers Signers
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

// ParseEndpoints reads node=address.
func ParseEndpoints(texts []string) (map[string]string, error) {
	endpoints := map[string]string{}
	for _, text := range texts {
		name, address, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, diag.On("--endpoints", "%q is not a node and its address", text).
				WithHint("such as prod-worker-1=203.0.113.7").WithCode(diag.Usage)
		}
		if err := checkEndpoint(address); err != nil {
			return nil, err
		}
		endpoints[name] = address
	}
	return endpoints, nil
}

// ParseFingerprints reads node=fingerprint.
func ParseFingerprints(texts []string) (map[string]string, error) {
	fingerprints := map[string]string{}
	for _, text := range texts {
		name, fingerprint, ok := strings.Cut(text, "=")
		if !ok || name == "" || !schemas.IsFingerprint(fingerprint) {
			return nil, diag.On("--fingerprint", "%q is not a node and the fingerprint of its key", text).
				WithHint("such as prod-worker-1=cBoPHCpSUqN0nBwHaWuFsj2+MCnsYMvFsALAmB4pB0k=; the console of a machine in maintenance mode shows it").WithCode(diag.Usage)
		}
		fingerprints[name] = fingerprint
	}
	return fingerprints, nil
}
