package node

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"

	"github.com/talosgen/talosgen/internal/secret"
)

// generated is a configuration as Talos' own generator writes it in a contract.
func generated(t *testing.T, b *secrets.Bundle, contract *config.VersionContract, role machine.Type) secret.String {
	t.Helper()
	in, err := generate.NewInput("demo", "https://192.0.2.1:6443", "1.36.3", generate.WithVersionContract(contract), generate.WithSecretsBundle(b))
	if err != nil {
		t.Fatal(err)
	}
	c, err := in.Config(role)
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return secret.New(string(text))
}

func newBundle(t *testing.T) *secrets.Bundle {
	t.Helper()
	b, err := secrets.NewBundle(secrets.NewFixedClock(now), config.TalosVersion1_13)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// kindsOf are the places without what follows their second part.
func kindsOf(places []string) (kinds []string) {
	for _, p := range places {
		parts := strings.SplitN(p, ".", 3)
		kind, _, _ := strings.Cut(strings.Join(parts[:min(2, len(parts))], "."), "[")
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// TestContractDifferences: Talos reads the same from the documents of 1.14 as from the
// sections before them, but for what new clusters have and upgraded ones do not.
func TestContractDifferences(t *testing.T) {
	b := newBundle(t)
	for role, want := range map[machine.Type]string{
		machine.TypeControlPlane: "Cluster.Discovery Cluster.SecretboxEncryptionSecret DiscoveryServiceConfigs FilesystemTrimConfig.Interval K8sAPIServerConfig.ExtraVolumes " +
			"K8sAPIServerConfig.InjectDefaultAuthorizers K8sAPIServerConfig.StartupProbesEnabled K8sAPIServerConfig.UseAuthenticationConfig K8sAuthenticationConfig.Configuration " +
			"K8sAuthorizerConfigs K8sProxyConfig.UseConfigFile Machine.Install SecurityProfileConfig.WorkloadIsolation",
		machine.TypeWorker: "Cluster.Discovery DiscoveryServiceConfigs FilesystemTrimConfig.Interval K8sFlannelCNIConfig.BackendPort K8sFlannelCNIConfig.BackendType Machine.Install SecurityProfileConfig.WorkloadIsolation",
	} {
		places, err := Differences(generated(t, b, config.TalosVersion1_13, role), generated(t, b, config.TalosVersion1_14, role))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(kindsOf(places), " "); got != want {
			t.Errorf("%s: %s\nwant %s", role, got, want)
		}
	}
}

// TestDifferences finds values, wherever they stand, and says no secrets.
func TestDifferences(t *testing.T) {
	one := generated(t, newBundle(t), config.TalosVersion1_14, machine.TypeControlPlane)
	for _, c := range []struct{ was, is, want string }{
		{"", "", ""},
		{"image: registry.k8s.io/kube-apiserver:v1.36.3", "image: mirror.example.com/kube-apiserver:v1.36.3", "K8sAPIServerConfig.Image"},
		{"", "---\napiVersion: v1alpha1\nkind: SysctlConfig\nparams: {vm.max_map_count: \"262144\"}\n", "SysctlConfig[vm.max_map_count]"},
		{"- 10.244.0.0/16", "- 10.245.0.0/16", "K8sNetworkConfig.PodCIDRs[0]"},
	} {
		text := one.Reveal() + c.is
		if c.was != "" {
			text = strings.Replace(one.Reveal(), c.was, c.is, 1)
		}
		places, err := Differences(one, secret.New(text))
		if err != nil || strings.Join(places, " ") != c.want {
			t.Errorf("%q: %v, %v, want %s", c.is, places, err, c.want)
		}
	}
	other, err := Differences(one, generated(t, newBundle(t), config.TalosVersion1_14, machine.TypeControlPlane))
	if err != nil || !slices.Contains(kindsOf(other), "K8sAPIServerCAConfig.IssuingCA") || !slices.Contains(kindsOf(other), "K8sEtcdEncryptionConfig.EtcdEncryptionConfig") || !slices.Contains(kindsOf(other), "K8sServiceAccountConfig.IssuingKey") {
		t.Errorf("of another cluster: %v, %v", kindsOf(other), err)
	}
	if _, err := Differences(one, secret.New("machine: {token: abc}\nnonsense: abc\n")); err == nil || strings.Contains(err.Error(), "abc") {
		t.Errorf("it says %v", err)
	}
}

// mute is a part of a configuration that cannot be asked.
type mute struct{}

func (mute) Answer() string { panic("no answer") }

// TestUnaskedDiffers: what cannot be asked in either text is not taken for equal.
func TestUnaskedDiffers(t *testing.T) {
	r := reader{}
	r.read("Part", reflect.ValueOf(mute{}), reflect.TypeFor[interface{ Answer() string }](), 0)
	if got := differing(r, r); !slices.Equal(got, []string{"Part.Answer"}) {
		t.Errorf("%q", got)
	}
}
