package render_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render"
)

// The secrets that addons take are in the tree, and encrypted there: the key of
// IPsec, the credentials of the bucket for backups, the passphrase of volumes,
// the token, and the configurations of autoscaled servers, which hold the
// secrets of the machines too.
func TestAddonSecretsAreHidden(t *testing.T) {
	ipsec := strings.Repeat("deadbeef1234567890", 4) // hexadecimal digits, as Cilium wants them
	r, key := gatewayRepo(t)
	r.variables("prod", key, `    CILIUM_IPSEC_KEY_1: "`+ipsec+`"
    BACKUP_S3_ACCESS_KEY: qzxkanarivogl95access
    BACKUP_S3_SECRET_KEY: qzxkanarivogl95secret
`)
	r.file("charts/cilium/Chart.yaml", "apiVersion: v2\nname: cilium\nversion: 1.0.0\n")
	r.file("charts/cilium/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config}\n")
	r.file("envs/prod/cluster.yaml", gatewayCluster+`cni: {type: cilium, encryption: ipsec}
talos: {backups: {s3: {enabled: true, bucket: backups}}}
addons: {cilium: {source: {chart: {path: charts/cilium}}}}
gitops: {repository: "https://git.example.com/a", components: existing}
`)
	res := mustRender(t, r.open(key), "prod", render.Options{})
	all := strings.Join(res.Files(), "\n")
	for _, secret := range []string{"cilium-ipsec-keys", "talos-backup-s3-secrets", "hcloud-csi-secret", "secret-hcloud.yaml", "cluster-autoscaler-hetzner-config", "sops-age"} {
		if !strings.Contains(all, secret) {
			t.Errorf("no file holds %s:\n%s", secret, all)
		}
	}
	for _, file := range res.Files() {
		mustHideSecrets(t, file, res.Text(file))
		if strings.Contains(res.Text(file), ipsec[:20]) {
			t.Errorf("%s shows the key of IPsec", file)
		}
		if strings.Contains(file, "/secret-") && !strings.Contains(res.Text(file), "ENC[AES256_GCM") {
			t.Errorf("%s is not encrypted", file)
		}
	}
}
