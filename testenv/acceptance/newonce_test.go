//go:build linux

package acceptance

import (
	"regexp"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/talosenv"
)

// TestNewOnce: a worker gets another machine behind talosgen's back, which waits in
// maintenance mode at its address. It is refused, and configured only when the
// operator names the key that it shows.
//
// A node in a container cannot be reset; that is tested with simulated ones. That
// a node is replaced, TestCloud shows.
func TestNewOnce(t *testing.T) {
	t.Parallel()
	bed := talosenv.Start(t, talosenv.Options{ControlPlanes: 1, Workers: 1, Kubernetes: true})
	u := &user{t: t, bed: bed, repository: bed.NewRepository(t)}
	u.publish(newRemote(t))
	u.must("apply", "lab", "--yes")
	u.must("health", "lab", "--wait", "4m")

	worker := bed.Workers[0]
	u.exchange(worker)
	const refusal = "node/worker-1: it does not prove that it is the node: it was configured, and read its stage: the node shows a certificate of another authority"
	u.refused(refusal, "plan", "lab")
	u.refused(refusal, "apply", "lab", "--yes")
	u.refused(refusal, "apply", "lab", "--yes", "--allow", "worker-1")
	wrong := u.refused("it has not the key that was named", "apply", "lab", "--yes", "--fingerprint", "worker-1="+strings.Repeat("A", 43)+"=")
	key := regexp.MustCompile(`shows the key (\S+=), not `).FindStringSubmatch(wrong)
	if key == nil {
		t.Fatal("the key that it shows is not told")
	}
	u.contains(u.must("apply", "lab", "--yes", "--fingerprint", "worker-1="+key[1]), "it shows the key that was named", "1 configured: worker-1")
	u.must("health", "lab", "--wait", "4m")
}

// refused runs a command that has to fail, and to say why. It returns all that it
// prints.
func (u *user) refused(why string, args ...string) string {
	u.t.Helper()
	output, err := u.talosgen(args...)
	if err == nil {
		u.t.Fatalf("it succeeded: %q", args)
	}
	u.contains(output, why)
	return output
}

// exchange puts another machine in the place of a node: its own is switched off.
func (u *user) exchange(n *talosenv.Node) {
	u.t.Helper()
	if err := n.Stop(); err != nil {
		u.t.Error(err)
	}
	another, err := u.bed.Boot(u.t.Context(), n.Name, n.Address)
	if err != nil {
		u.t.Error(err)
		return
	}
	*n = *another
}
