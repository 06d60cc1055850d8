// Package hetznersim simulates the Hetzner Cloud API as an [http.Handler]: the
// resources that talosgen, the cloud controller, the CSI driver and the cluster
// autoscaler use, with their states, actions that take time, locks, conflicts,
// limits, error codes and rate limit.
//
// What it knows about the API comes from its OpenAPI description of June 2026,
// the changelog until November 2026, and the official Go client. Its tests drive
// it with that client, and check every request and response against the
// description. Where it differs from the real API, the simulator is wrong.
//
// Firewalls and load balancers do what they are told: [Sim.Way] says where a
// connection to a public address ends, for whoever stands nodes behind the
// servers.
//
// What it does not have: metrics, consoles, passwords and storage boxes; they are
// no routes of its API. Server types, locations and prices are a selection, and
// near the real ones.
//
// All state is one value that consists of rows which never change once they are
// stored: a change stores another row. A snapshot is therefore a copy of a few
// slices, and a handler that fails leaves nothing behind.
package hetznersim
