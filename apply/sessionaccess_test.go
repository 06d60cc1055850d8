package apply

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/talosgen/talosgen/internal/diag"
)

// letsInSix is the head of a cluster whose sessions let IPv6 addresses in, with
// sources that its firewall lets in for good.
func letsInSix(sources string) string {
	rules := fmt.Sprintf(`    rules:
      - {direction: in, protocol: tcp, port: "6443", sourceIps: [%[1]s]}
      - {direction: in, protocol: tcp, port: "50000", sourceIps: [%[1]s]}
`, sources)
	head := strings.Replace(nodesHead, "currentIpv4: true, currentIpv6: false", "currentIpv4: false, currentIpv6: true", 1)
	return strings.Replace(head, "    applyTo:", rules+"    applyTo:", 1)
}

// An operator with an IPv4 address, where sessions let in IPv6 only, needs none if
// the sources of the firewall have the address.
func TestSourcesLetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.head = letsInSix("198.51.100.0/24")
		s.tree("cp-1", "worker-1")
		s.mustApply(Policy{})
		made := 0
		for _, c := range s.sim.Calls() {
			if c.Method == http.MethodPost && c.Path == "/firewalls" {
				made++
			}
		}
		if made != 2 {
			t.Errorf("%d firewalls were made, not the cluster's and the lock", made)
		}
		if p, _, err := s.apply(Policy{}); err != nil || !p.Empty() {
			t.Errorf("again: %v, %v", p, err)
		}
	})
}

// Without, the run ends with what would help.
func TestSourcesLetNobodyIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.head = letsInSix("203.0.113.0/24")
		s.tree("cp-1")
		_, _, err := s.apply(Policy{})
		if diag.CodeOf(err) != diag.Remote || !strings.Contains(err.Error(), "your public address is 198.51.100.7, and the cluster lets in the other IP version only") {
			t.Error(err)
		}
	})
}
