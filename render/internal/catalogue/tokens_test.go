package catalogue_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/catalogue/cataloguetest"
)

const tokensCluster = `clusterName: demo
hetzner: {region: hel1}
nodes: {controlPlane: {count: 1, type: cpx22}}
autoscaler: {enabled: true, acknowledgeMetadata: true, nodepools: [{name: burst, max: 5, type: cpx32}]}
`

// A token of one's own is what its addon reads, and nobody else; it is in the
// Secret that apply keeps, so that the key of the cluster opens none.
func TestOwnTokens(t *testing.T) {
	f, err := cataloguetest.Facts(t, []byte(tokensCluster))
	if err != nil {
		t.Fatal(err)
	}
	f.Secrets["HCLOUD_TOKEN"] = secret.New("token-of-all")
	before := tokenUses(t, f)
	if want := "hcloud-ccm:token cluster-autoscaler:token hcloud-csi:token"; before.reads != want || before.keys != "token" {
		t.Errorf("without tokens of their own: %+v", before)
	}
	f.Secrets["HCLOUD_TOKEN_CSI"], f.Secrets["HCLOUD_TOKEN_AUTOSCALER"] = secret.New("token-of-csi"), secret.New("token-of-autoscaler")
	after := tokenUses(t, f)
	if want := "hcloud-ccm:token cluster-autoscaler:autoscaler-token hcloud-csi:csi-token"; after.reads != want {
		t.Errorf("read %s, want %s", after.reads, want)
	}
	if after.keys != "autoscaler-token csi-token token" || after.others {
		t.Errorf("the Secret has %s; others have a token: %v", after.keys, after.others)
	}
	f.Secrets["HCLOUD_TOKEN_CSI"] = secret.New("token-of-csi-2")
	rotated := tokenUses(t, f)
	for name, changes := range map[string]bool{"hcloud-csi-controller": true, "cluster-autoscaler": false} {
		if changed := rotated.checksums[name] != after.checksums[name]; changed != changes {
			t.Errorf("with another token of the volumes, %s restarts: %v", name, changed)
		}
	}
}

// tokens say who reads which key of the Secret hcloud, and what is in it.
type tokens struct {
	reads, keys string
	others      bool // an object that is not that Secret holds a token
	checksums   map[string]string
}

func tokenUses(t *testing.T, f catalogue.Facts) tokens {
	t.Helper()
	addons, err := catalogue.Addons(f)
	if err != nil {
		t.Fatal(err)
	}
	found := tokens{checksums: map[string]string{}}
	reads := map[string]string{}
	for _, a := range addons {
		for _, o := range a.Objects {
			data, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			if o.Kind() == "Secret" && o.Name() == "hcloud" {
				for _, key := range []string{"autoscaler-token", "csi-token", "token"} {
					if strings.Contains(text, `"`+key+`":`) {
						found.keys = strings.TrimSpace(found.keys + " " + key)
					}
				}
				continue
			}
			found.others = found.others || strings.Contains(text, "token-of-")
			if _, rest, ok := strings.Cut(text, `"name":"HCLOUD_TOKEN","valueFrom":{"secretKeyRef":{"key":"`); ok {
				reads[a.Name], _, _ = strings.Cut(rest, `"`)
			}
			if _, rest, ok := strings.Cut(text, `"checksum/secret":"`); ok {
				found.checksums[o.Name()], _, _ = strings.Cut(rest, `"`)
			}
		}
	}
	for _, name := range []string{"hcloud-ccm", "cluster-autoscaler", "hcloud-csi"} {
		found.reads = strings.TrimSpace(found.reads + " " + name + ":" + reads[name])
	}
	return found
}
