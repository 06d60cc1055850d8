package preflight

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/schemas"
)

// TestPlaceholders: names that an example has are told, each once. Friction 12.
func TestPlaceholders(t *testing.T) {
	record := func(zone string) schemas.InfraDNSRecord { return schemas.InfraDNSRecord{Zone: zone, Name: "api"} }
	for endpoint, want := range map[string]bool{
		"https://api.dev.example.com:6443": true, "https://API.Example.ORG.:6443": true, "https://example.net": true, "https://kube.lab.example:6443": true,
		"https://api.acme.io:6443": false, "https://notexample.com:6443": false, "https://203.0.113.7:6443": false, "https://[2001:db8::1]:6443": false, "": false, ":": false,
	} {
		found := Placeholders(&schemas.Infrastructure{KubernetesAPI: schemas.InfraAPI{ExternalEndpoint: endpoint}})
		if got := len(found) == 1 && found[0].State == Warning && strings.Contains(found[0].Hint, "kubernetes.apiHostname"); got != want || len(found) > 1 {
			t.Errorf("%q: %+v", endpoint, found)
		}
	}
	found := Placeholders(&schemas.Infrastructure{DNSRecords: []schemas.InfraDNSRecord{record("example.com"), record("example.com"), record("acme.io"), record("b.example")}})
	if len(found) != 2 || found[0].Text != "example.com is a name of an example, and leads nowhere" || !strings.Contains(found[1].Hint, "hetzner.dns.records") {
		t.Errorf("%+v", found)
	}
}
