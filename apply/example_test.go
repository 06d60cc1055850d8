package apply

import (
	"os"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// TestExampleRecipient keeps the constant equal to the key that is shipped.
func TestExampleRecipient(t *testing.T) {
	const file = "../envs/example.agekey"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	public, err := sopsage.PublicKeys(file, data)
	if err != nil || len(public) != 1 || public[0] != exampleRecipient {
		t.Errorf("the shipped key is %q (%v), the constant %s", public, err, exampleRecipient)
	}
}

func TestCheckExample(t *testing.T) {
	const other = "age1other"
	for _, tt := range []struct {
		name, endpoint string
		recipients     []string
		refused        bool
	}{
		{"shipped key", "https://api.hetzner.cloud/v1", []string{"age1mine", exampleRecipient}, true},
		{"shipped key, no endpoint", "", []string{exampleRecipient}, true},
		{"the environment's example key", "https://api.hetzner.cloud/v1", []string{other}, true},
		{"own key", "https://api.hetzner.cloud/v1", []string{"age1mine"}, false},
		{"simulator", "http://127.0.0.1:8080/v1", []string{exampleRecipient}, false},
		{"simulator by name", "http://localhost:8080/v1", []string{exampleRecipient}, false},
		{"simulator, IPv6", "http://[::1]:8080/v1", []string{other}, false},
		{"looks like loopback", "https://127.0.0.1.example.com/v1", []string{exampleRecipient}, true},
		{"loopback as user", "https://127.0.0.1@example.com/v1", []string{exampleRecipient}, true},
		{"not a URL", "http://[::1", []string{exampleRecipient}, true},
	} {
		e := &Environment{name: "demo", recipients: tt.recipients}
		err := e.checkExample(tt.endpoint, []string{other})
		if (err != nil) != tt.refused {
			t.Errorf("%s: error %v", tt.name, err)
		}
		if err != nil && (diag.CodeOf(err) != diag.Secrets || !strings.Contains(err.Error(), "talosgen sim")) {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
}
