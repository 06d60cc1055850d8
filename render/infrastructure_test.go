package render_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sshkey"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/schemas"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// gatewayCluster has no public addresses.
const gatewayCluster = `clusterName: prod
network: {publicIpv4: false, publicIpv6: false}
hetzner: {region: hel1, sshKeys: [me], apiLoadBalancer: {enabled: true, publicNetwork: false}}
nodes: {controlPlane: {count: 1, type: cpx22}}
autoscaler: {enabled: true, nodepools: [{name: burst, max: 5, type: cpx22}]}
`

func gatewayRepo(t *testing.T) (*testRepo, string) {
	t.Helper()
	key := operatorKeys()[0]
	r := newRepo(t).operators(map[string]string{"prod": key.public}).file("envs/prod/cluster.yaml", gatewayCluster)
	return r.initSecrets("prod", key.private), key.private
}

// The private SSH host key of the NAT gateway is in one file, encrypted, which
// real sops decrypts; the public half is what infrastructure.yaml names.
func TestHostKey(t *testing.T) {
	r, key := gatewayRepo(t)
	repo := r.open(key)
	mustWrite(t, repo, "prod")
	text, err := run([]string{"SOPS_AGE_KEY=" + key}, toolenv.Sops(t), "-d", r.root+"/rendered/prod/"+schemas.HostKeyFile)
	if err != nil {
		t.Fatal(err, text)
	}
	var file schemas.HostKey
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	public, err := sshkey.Public(secret.New(file.PrivateKey))
	if err != nil || public != file.PublicKey {
		t.Errorf("the public key is %s, %v, not %s", public, err, file.PublicKey)
	}
	var out schemas.Infrastructure
	if err := yaml.Unmarshal([]byte(readFile(t, r.root, "rendered/prod/"+schemas.InfrastructureFile)), &out); err != nil {
		t.Fatal(err)
	}
	gateway := out.Servers[len(out.Servers)-1]
	if gateway.HostKey != public || !strings.Contains(gateway.UserData, schemas.HostKeyMarker) || !strings.Contains(gateway.UserData, public) {
		t.Errorf("the gateway is %+v", gateway)
	}
	for name, text := range readTree(t, r.root+"/rendered/prod") {
		for line := range strings.Lines(file.PrivateKey) {
			if line = strings.TrimSpace(line); strings.Contains(text, line) {
				t.Errorf("%s holds %q", name, line)
			}
		}
	}
	filled := schemas.FillHostKey(gateway.UserData, file.PrivateKey)
	var cloudInit struct {
		Keys map[string]string `yaml:"ssh_keys"`
	}
	if err := yaml.Unmarshal([]byte(filled), &cloudInit); err != nil || cloudInit.Keys["ed25519_private"] != file.PrivateKey {
		t.Errorf("cloud-init reads %v, %v", cloudInit.Keys, err)
	}
}

// Talos reads what nodes without public addresses are made with.
func TestUserDataIsTalos(t *testing.T) {
	r, key := gatewayRepo(t)
	var out schemas.Infrastructure
	if err := yaml.Unmarshal([]byte(mustRender(t, r.open(key), "prod", render.Options{}).Text(schemas.InfrastructureFile)), &out); err != nil {
		t.Fatal(err)
	}
	cfg, err := configloader.NewFromBytes([]byte(out.Servers[0].UserData))
	if err != nil {
		t.Fatal(err)
	}
	links := cfg.NetworkCommonLinkConfigs()
	if len(links) != 1 || links[0].Name() != "eth0" || len(links[0].Routes()) != 1 {
		t.Errorf("links are %v", links)
	}
	if warnings, err := cfg.ValidateAsClient(cloud{}); err != nil || len(warnings) > 0 {
		t.Errorf("%v, %v", warnings, err)
	}
}

// A group of servers that the autoscaler makes is shown and explained like a
// node, but has no name of one.
func TestAutoscaledGroup(t *testing.T) {
	r, key := gatewayRepo(t)
	repo := r.open(key)
	mustWrite(t, repo, "prod")
	text, err := repo.Show(context.Background(), "prod", "prod-burst", true)
	if err != nil || !strings.Contains(string(text), "https://10.0.64.254:6443") || strings.Contains(string(text), "hostname:") {
		t.Errorf("%v: %s", err, text)
	}
	if all, err := repo.Explain(context.Background(), "prod", "prod-burst", "KubeClusterConfig.endpoint"); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	r.file("envs/prod/patches/worker.yaml", "apiVersion: v1alpha1\nkind: EnvironmentConfig\nvariables:\n  NAME: ${NODE_NAME}\n")
	if _, err := r.open(key).Render(context.Background(), "prod", render.Options{}); err == nil || !strings.Contains(err.Error(), "worker.yaml:4:9: ") {
		t.Errorf("a name that it does not have: %v", err)
	}
}

// cloud is the mode of a machine in a cloud.
type cloud struct{}

func (cloud) String() string        { return "cloud" }
func (cloud) RequiresInstall() bool { return false }
func (cloud) InContainer() bool     { return false }

// Without the key, or with something else in its place, a render says what to
// do, and not what is there.
func TestHostKeyProblems(t *testing.T) {
	r, key := gatewayRepo(t)
	plain, err := r.decrypted("envs/prod/secrets.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	without, _, _ := strings.Cut(plain, "sshHostKey:")
	_, variables, _ := strings.Cut(plain, "\nvariables:\n")
	without += "variables:\n" + variables
	for _, tt := range []struct{ name, plain, want string }{
		{"none", without, "envs/prod/secrets.sops.yaml: has no SSH host key (sshHostKey:) for the NAT gateway\n  make one with `talosgen secrets sync prod`"},
		{"another", without + "sshHostKey: qzxkanarivogl95\n", "envs/prod/secrets.sops.yaml: sshHostKey is not the private key of an SSH host"},
	} {
		r.encrypted("envs/prod/secrets.sops.yaml", tt.plain)
		_, err := r.open(key).Render(context.Background(), "prod", render.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || diag.CodeOf(err) != diag.Secrets || strings.Contains(err.Error(), "qzxkanarivogl95") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if _, err := r.open("").Render(context.Background(), "prod", render.Options{Keyless: true}); err != nil {
		t.Errorf("keyless: %v", err)
	}
}

// Known public addresses go into the certificates; a file that cannot be read
// is no reason to leave them out.
func TestFacts(t *testing.T) {
	r, key := gatewayRepo(t)
	r.file("envs/prod/facts.yaml", `apiVersion: talosgen.dev/v1alpha1
addresses:
  - {kind: loadBalancer, name: prod-kube-api, ipv4: 203.0.113.7, ipv6: 2001:db8::7}
  - {kind: server, name: prod-control-plane-1, ipv4: 203.0.113.8}
`)
	repo := r.open(key)
	all, err := repo.Explain(context.Background(), "prod", "prod-control-plane-1", "KubeAPIServerConfig.certExtraSANs")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all {
		got = append(got, fmt.Sprintf("%s %s:%d", e.Value, e.Origins[0].File, e.Origins[0].Line))
	}
	want := "203.0.113.7 envs/prod/cluster.yaml:3\n2001:db8::7 envs/prod/cluster.yaml:3"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	for _, tt := range []struct{ text, want string }{
		{"", "envs/prod/facts.yaml: the file is empty"},
		{"[a]\n", "envs/prod/facts.yaml:1:1: must be a mapping"},
		{"apiVersion: talosgen.dev/v1alpha1\naddresses: [{kind: router, name: a, ipv4: 203.0.113.7}]\n", "envs/prod/facts.yaml:2:20: addresses[0].kind must be loadBalancer or floatingIp or server"},
		{"apiVersion: talosgen.dev/v1alpha1\naddresses: [{kind: server, name: a}]\n", "envs/prod/facts.yaml:2:13: an object without addresses"},
		{"apiVersion: talosgen.dev/v1alpha1\naddresses: [{kind: server, name: a, ipv4: '2001:db8::7'}]\n", "envs/prod/facts.yaml:2:43: 2001:db8::7 is not an IPv4 address"},
		{"apiVersion: talosgen.dev/v1alpha1\nadresses: []\n", "envs/prod/facts.yaml:2:1: unknown key \"adresses\""},
		{"apiVersion: talosgen.dev/v1alpha1\nnodes: []\n", "envs/prod/facts.yaml:1:1: neither addresses nor nodes"},
		{"apiVersion: talosgen.dev/v1alpha1\nnodes: [{name: a}, {name: a}]\n", "envs/prod/facts.yaml:2:27: the node a is here twice"},
	} {
		r.file("envs/prod/facts.yaml", tt.text)
		_, err := r.open(key).Render(context.Background(), "prod", render.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q: %v", tt.text, err)
		}
	}
}

// A configuration that is too large for user data is refused at the pool, and
// nothing but what compresses badly makes it so.
func TestUserDataSize(t *testing.T) {
	r, key := gatewayRepo(t)
	random := rand.New(rand.NewPCG(1, 2))
	sysctl := func(bytes int) string {
		var b strings.Builder
		for b.Len() < bytes {
			fmt.Fprintf(&b, "%016x", random.Uint64())
		}
		return b.String()
	}
	file := func(content string) {
		r.file("envs/prod/patches/worker.yaml", "apiVersion: v1alpha1\nkind: EnvironmentConfig\nvariables:\n  BLOB: \""+content+"\"\n")
	}
	render := func() error {
		_, err := r.open(key).Render(context.Background(), "prod", render.Options{})
		return err
	}
	file(strings.Repeat("0", 100<<10))
	if err := render(); err != nil {
		t.Errorf("100 KiB of zeros: %v", err)
	}
	file(sysctl(60 << 10))
	err := render()
	if err == nil || !strings.HasPrefix(err.Error(), "envs/prod/cluster.yaml:5:") || !strings.Contains(err.Error(), "Hetzner takes 32768") {
		t.Errorf("60 KiB of noise: %v", err)
	}
	file(sysctl(20 << 10))
	if err := render(); err != nil {
		t.Errorf("20 KiB of noise: %v", err)
	}
}
