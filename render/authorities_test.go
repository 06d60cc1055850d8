package render_test

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"
)

var base64Text = regexp.MustCompile(`[A-Za-z0-9+/]{40,}={0,2}`)

// privateKeys counts the private keys in a configuration: as they are, and in
// base64.
func privateKeys(text string) int {
	n := strings.Count(text, "PRIVATE KEY-----\n")
	for _, encoded := range base64Text.FindAllString(text, -1) {
		if plain, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			n += strings.Count(string(plain), "BEGIN ")
			n -= strings.Count(string(plain), "BEGIN CERTIFICATE")
			n -= strings.Count(string(plain), "BEGIN PUBLIC KEY")
		}
	}
	return n
}

// Whoever owns a worker, or reads what the autoscaler makes servers from, has the
// key of no authority, whatever the contract. A control plane has those of Talos,
// Kubernetes, etcd and aggregation, and the one that signs service accounts.
func TestWorkersHoldNoAuthority(t *testing.T) {
	for _, contract := range []string{"v1.9.0", "v1.13.9", "v1.14.1"} {
		t.Run(contract, func(t *testing.T) {
			key := operatorKeys()[0]
			r := newRepo(t).operators(map[string]string{"prod": key.public}).file("envs/prod/cluster.yaml", `clusterName: prod
talos: {version: `+contract+`}
kubernetes: {version: 1.32.0}
hetzner: {region: hel1}
nodes: {controlPlane: {count: 1, type: cpx22}, workers: {nodepools: [{name: worker, count: 1, type: cpx22}]}}
autoscaler: {enabled: true, nodepools: [{name: burst, max: 5, type: cpx22}]}
`)
			mustWrite(t, r.initSecrets("prod", key.private).open(key.private), "prod")
			for file, want := range map[string]bool{"nodes/prod-control-plane-1": true, "nodes/prod-worker-1": false, "autoscaler/prod-burst": false} {
				text, err := r.decrypted("rendered/prod/" + file + ".yaml")
				if err != nil {
					t.Fatal(err)
				}
				if n := privateKeys(text); n >= 5 != want || !want && n > 0 {
					t.Errorf("%s has %d private keys", file, n)
				}
			}
		})
	}
}
