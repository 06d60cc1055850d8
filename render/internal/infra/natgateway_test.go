package infra

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/casetest"
)

// packet is what the gateway is asked to forward.
type packet struct {
	from, to    string
	established bool
}

// forwarded evaluates a chain of nftables as the kernel does, rule by rule, for
// the expressions that our rules consist of.
func forwarded(t *testing.T, chain []string, p packet) bool {
	t.Helper()
	for _, rule := range chain {
		words := strings.Fields(rule)
		verdict := words[len(words)-1]
		matches := true
		switch {
		case strings.HasPrefix(rule, "#"), strings.HasPrefix(rule, "type "), strings.HasPrefix(rule, "tcp flags "):
			continue // no verdict
		case strings.HasPrefix(rule, "ct state established,related "):
			matches = p.established
		case words[0] == "ip" && len(words) == 4:
			address := netip.MustParseAddr(map[string]string{"saddr": p.from, "daddr": p.to}[words[1]])
			matches = netip.MustParsePrefix(words[2]).Contains(address)
		default:
			t.Fatalf("the test does not know the rule %q", rule)
		}
		if matches {
			return verdict == "accept"
		}
	}
	return false // the policy
}

// rulesOf are the lines of a chain in a file for nft.
func rulesOf(t *testing.T, text, table, chain string) (rules []string) {
	t.Helper()
	_, text, found := strings.Cut(text, "table "+table+" {")
	_, text, foundChain := strings.Cut(text, "chain "+chain+" {")
	text, _, closed := strings.Cut(text, "}")
	if !found || !foundChain || !closed {
		t.Fatalf("there is no chain %s in the table %s", chain, table)
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			rules = append(rules, line)
		}
	}
	return rules
}

// The metadata service of the gateway, which has its user data, is nobody
// else's: neither for nodes nor for pods, nor within a connection that is taken
// for an established one. All else goes on as before.
func TestGatewayKeepsLinkLocalToItself(t *testing.T) {
	out, err := Resolve(input(t, casetest.Cases(t, "testdata/private.txtar")[0].Texts))
	if err != nil {
		t.Fatal(err)
	}
	userData := ""
	for _, s := range out.Servers {
		userData += s.UserData
	}
	if !strings.Contains(strings.Join(rulesOf(t, userData, "ip nat", "forward"), "\n"), "policy drop") {
		t.Error("what no rule accepts is forwarded")
	}
	if rules := rulesOf(t, userData, "ip6 filter", "forward"); !strings.HasSuffix(rules[len(rules)-1], "policy drop;") {
		t.Errorf("IPv6 is forwarded: %v", rules)
	}
	for _, tt := range []struct {
		name string
		packet
		want bool
	}{
		{"metadata service", packet{"10.8.64.11", "169.254.169.254", false}, false},
		{"metadata service, established", packet{"10.8.64.11", "169.254.169.254", true}, false},
		{"from a pod", packet{"10.8.128.7", "169.254.169.254", false}, false},
		{"rest of link-local", packet{"10.8.64.11", "169.254.0.1", false}, false},
		{"from link-local", packet{"169.254.169.254", "10.8.64.11", true}, false},
		{"internet", packet{"10.8.64.11", "203.0.113.7", false}, true},
		{"its answers", packet{"203.0.113.7", "10.8.64.11", true}, true},
		{"from outside", packet{"203.0.113.7", "10.8.64.11", false}, false},
	} {
		if got := forwarded(t, rulesOf(t, userData, "ip nat", "forward"), tt.packet); got != tt.want {
			t.Errorf("%s: forwarded %v", tt.name, got)
		}
	}
}
