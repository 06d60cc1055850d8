package machine

import (
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render/internal/subst"
)

// secretPaths lists the secret leaves of a configuration, sorted.
func secretPaths(t testing.TB, cfg *Config) []string {
	t.Helper()
	var paths []string
	for _, l := range everyLeaf(t, cfg) {
		if l.secret {
			paths = append(paths, l.document.String()+" "+l.Path.String())
		}
	}
	slices.Sort(paths)
	return paths
}

func lines(text string) []string {
	list := strings.Fields(strings.ReplaceAll(text, "main ", "v1alpha1|"))
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], "|", " ")
	}
	slices.Sort(list)
	return list
}

var baseSecrets = map[Role][2][]string{
	ControlPlane: {
		lines(`main machine.token main machine.ca.crt main machine.ca.key
			main cluster.id main cluster.secret main cluster.token main cluster.secretboxEncryptionSecret
			main cluster.ca.crt main cluster.ca.key main cluster.aggregatorCA.crt main cluster.aggregatorCA.key
			main cluster.serviceAccount.key main cluster.etcd.ca.crt main cluster.etcd.ca.key`),
		lines(`main machine.token main machine.ca.crt main machine.ca.key main cluster.token main cluster.etcd.ca.crt main cluster.etcd.ca.key
			DiscoveryIdentityConfig|clusterID DiscoveryIdentityConfig|clusterSecret
			KubeAPIServerCAConfig|issuingCA.cert KubeAPIServerCAConfig|issuingCA.key
			KubeAggregatorCAConfig|issuingCA.cert KubeAggregatorCAConfig|issuingCA.key
			KubeEtcdEncryptionConfig|config.resources[0].providers[0].secretbox.keys[0].secret
			KubeServiceAccountConfig|issuer.privateKey`),
	},
	Worker: {
		lines(`main machine.token main machine.ca.crt main cluster.id main cluster.secret main cluster.token main cluster.ca.crt`),
		lines(`main machine.token main machine.ca.crt main cluster.token
			DiscoveryIdentityConfig|clusterID DiscoveryIdentityConfig|clusterSecret KubeAPIServerCAConfig|acceptedCAs[0]`),
	},
}

func TestSecretsOfTheBase(t *testing.T) {
	for _, contract := range contracts {
		for _, role := range []Role{ControlPlane, Worker} {
			want := baseSecrets[role][0]
			if contract == "v1.14" {
				want = baseSecrets[role][1]
			}
			if have := secretPaths(t, testBase(t, contract, role)); !slices.Equal(have, want) {
				t.Errorf("%s %s: secret are\n%s\nnot\n%s", contract, role, strings.Join(have, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// secretScope has secret variables of several kinds, and one that is not.
var secretScope = testScope(map[string]string{
	"TOKEN": "a-long-secret", "SHORT": "s3c", "NUMBER": "4711", "FLAG": "true", "DURATION": "5m", "OCTAL": "010",
	"MULTI": "first line\nsecond line", "URL": "https://user:not-real@Example.org:443/a b", "PLAIN": "readable", "PREFIX": "10.0.0.5/24",
}, "TOKEN", "SHORT", "NUMBER", "FLAG", "DURATION", "OCTAL", "MULTI", "URL", "PREFIX")

// newSecrets applies layers and returns the secret leaves that the base has not.
func newSecrets(t *testing.T, contract string, role Role, scope *subst.Scope, layers ...string) []string {
	t.Helper()
	base := testBase(t, contract, role)
	patches, err := loadAll(layers, LoadOptions{Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := base.Apply(patches)
	if err != nil {
		t.Fatal(err)
	}
	before := secretPaths(t, base)
	return slices.DeleteFunc(secretPaths(t, cfg), func(p string) bool { return slices.Contains(before, p) })
}

func TestSecretVariables(t *testing.T) {
	for _, c := range []struct {
		name   string
		layers []string
		want   []string
	}{
		{"whole value", []string{"machine: {nodeLabels: {a: '${TOKEN}', b: '${PLAIN}'}}"}, []string{"v1alpha1 machine.nodeLabels.a"}},
		{"part of a value", []string{"machine: {nodeLabels: {a: 'x-${TOKEN}-y'}}"}, []string{"v1alpha1 machine.nodeLabels.a"}},
		{"short part of a value", []string{"machine: {nodeLabels: {a: 'x${SHORT}y', b: 'xs3cy'}}"}, []string{"v1alpha1 machine.nodeLabels.a"}},
		{"short, elsewhere too", []string{"machine: {nodeLabels: {a: '${SHORT}', b: s3c}}"}, []string{"v1alpha1 machine.nodeLabels.a"}},
		{"long, elsewhere too", []string{"machine: {nodeLabels: {a: '${TOKEN}'}}", "machine: {sysctls: {x: the a-long-secret again}}"},
			[]string{"v1alpha1 machine.nodeLabels.a", "v1alpha1 machine.sysctls.x"}},
		{"number", []string{"apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: ${NUMBER}\n"}, []string{"LinkConfig/eth0 mtu"}},
		{"boolean", []string{"machine:\n  install:\n    wipe: ${FLAG}\n"}, []string{"v1alpha1 machine.install.wipe"}},
		{"coerced to text", []string{"machine:\n  sysctls:\n    a: ${NUMBER}\n    b: ${FLAG}\n    c: ${OCTAL}\n"},
			[]string{"v1alpha1 machine.sysctls.a", "v1alpha1 machine.sysctls.b", "v1alpha1 machine.sysctls.c"}},
		{"free-form number", []string{"machine:\n  kubelet:\n    extraConfig:\n      maxPods: ${NUMBER}\n      octal: ${OCTAL}\n"},
			[]string{"v1alpha1 machine.kubelet.extraConfig.maxPods", "v1alpha1 machine.kubelet.extraConfig.octal"}},
		{"list", []string{"machine: {certSANs: [a, b]}", "machine: {certSANs: [c, '${SHORT}', '${TOKEN}']}"}, []string{"v1alpha1 machine.certSANs[3]", "v1alpha1 machine.certSANs[4]"}},
		{"argument that is a list", []string{"machine: {kubelet: {extraArgs: {x: [a, '${SHORT}']}}}"}, []string{"v1alpha1 machine.kubelet.extraArgs.x[1]"}},
		{"inline manifest", []string{"cluster:\n  inlineManifests:\n    - name: m\n      contents: |\n        apiVersion: v1\n        data: ${SHORT}\n"}, []string{"v1alpha1 cluster.inlineManifests[0].contents"}},
		{"several lines", []string{"machine:\n  files:\n    - path: /var/x\n      content: |\n        ${MULTI}\n      op: create\n"}, []string{"v1alpha1 machine.files[0].content"}},
		{"canonical duration", []string{"machine: {time: {bootTimeout: '${DURATION}'}}"}, []string{"v1alpha1 machine.time.bootTimeout"}},
		{"canonical URL", []string{"apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: x\nurl: ${URL}\n"}, []string{"KmsgLogConfig/x url"}},
		{"canonical prefix", []string{"machine: {kubelet: {nodeIP: {validSubnets: ['${PREFIX}']}}}"}, []string{"v1alpha1 machine.kubelet.nodeIP.validSubnets[0]"}},
		{"canonical, beside $patch: delete", []string{"machine: {time: {bootTimeout: '${DURATION}'}, install: {image: {$patch: delete}}}"}, []string{"v1alpha1 machine.time.bootTimeout"}},
		{"canonical, beside !delete", []string{"machine: {time: {bootTimeout: '${DURATION}'}, install: {image: !delete }}"}, []string{"v1alpha1 machine.time.bootTimeout"}},
		{"behind !replace", []string{"machine: {certSANs: [a]}", "machine: {certSANs: !replace ['${SHORT}', b]}"}, []string{"v1alpha1 machine.certSANs[0]"}},
		{"by an alias", []string{"machine:\n  nodeLabels:\n    a: &x ${SHORT}\n  nodeAnnotations:\n    b: *x\n"}, []string{"v1alpha1 machine.nodeAnnotations.b", "v1alpha1 machine.nodeLabels.a"}},
		{"overridden by a readable value", []string{"machine: {nodeLabels: {a: '${TOKEN}'}}", "machine: {nodeLabels: {a: '${PLAIN}'}}"}, nil},
		{"overrides a readable value", []string{"machine: {nodeLabels: {a: '${PLAIN}'}}", "machine: {nodeLabels: {a: '${SHORT}'}}"}, []string{"v1alpha1 machine.nodeLabels.a"}},
		{"name of a document", []string{"apiVersion: v1alpha1\nkind: LinkConfig\nname: ${SHORT}\nmtu: 1400\n"}, []string{"LinkConfig/s3c name"}},
		{"document of an unknown kind", []string{"apiVersion: v1beta9\nkind: NewConfig\nname: x\na: {b: ['${SHORT}', c]}\nn: ${NUMBER}\n"}, []string{"NewConfig/x a.b[0]", "NewConfig/x n"}},
		{"removed", []string{"machine: {nodeLabels: {a: '${TOKEN}'}}", "machine: {nodeLabels: {a: !delete }}"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if have := newSecrets(t, "v1.13", ControlPlane, secretScope, c.layers...); !slices.Equal(have, c.want) {
				t.Errorf("secret are\n%s\nnot\n%s", strings.Join(have, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestSecretsInKeysAreRefused(t *testing.T) {
	_, err := loadText("p.yaml", "machine: {nodeLabels: {'${TOKEN}': x}}", LoadOptions{Scope: secretScope})
	if err == nil || strings.Contains(err.Error(), "a-long-secret") {
		t.Errorf("error is %v", err)
	}
}

func TestEncryptedPatches(t *testing.T) {
	plain := unindent(`
		machine:
		  nodeLabels:
		    a: one
		    b: two
		  certSANs: [x, y]
		  time:
		    bootTimeout: 5m
		  install:
		    wipe: true
		---
		apiVersion: v1alpha1
		kind: LinkConfig
		name: eth0
		mtu: 1400`)
	encrypt := func(words ...string) []byte {
		text := plain + "sops:\n  mac: x\n"
		for _, w := range words {
			text = strings.ReplaceAll(text, w, "ENC[AES256_GCM,data:"+w+"-]")
		}
		return []byte(text)
	}
	for _, c := range []struct {
		name      string
		encrypted []byte
		want      []string
	}{
		{"not at all", []byte(plain), nil},
		{"some", encrypt("two", "1400"), []string{"LinkConfig/eth0 mtu", "v1alpha1 machine.nodeLabels.b"}},
		{"item of a list", []byte(strings.ReplaceAll(plain, "[x, y]", "[x, 'ENC[y]']")), []string{"v1alpha1 machine.certSANs[1]"}},
		{"all", encrypt("one", "two", "5m", "true", "v1alpha1", "LinkConfig", "eth0", "1400"), []string{
			"LinkConfig/eth0 mtu", "LinkConfig/eth0 name", "v1alpha1 machine.install.wipe",
			"v1alpha1 machine.nodeLabels.a", "v1alpha1 machine.nodeLabels.b", "v1alpha1 machine.time.bootTimeout"}},
		{"not parsable", []byte("a: ["), []string{
			"LinkConfig/eth0 mtu", "LinkConfig/eth0 name", "v1alpha1 machine.certSANs[0]", "v1alpha1 machine.certSANs[1]", "v1alpha1 machine.install.wipe",
			"v1alpha1 machine.nodeLabels.a", "v1alpha1 machine.nodeLabels.b", "v1alpha1 machine.time.bootTimeout"}},
		{"other items", []byte(strings.ReplaceAll(plain, "[x, y]", "[y]")), []string{"v1alpha1 machine.certSANs[0]", "v1alpha1 machine.certSANs[1]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := LoadPatch(Source{File: "p.sops.yaml", Data: []byte(plain), Encrypted: c.encrypted}, LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			base := testBase(t, "v1.13", Worker)
			cfg, _, err := base.Apply([]*Patch{p})
			if err != nil {
				t.Fatal(err)
			}
			before := secretPaths(t, base)
			have := slices.DeleteFunc(secretPaths(t, cfg), func(p string) bool { return slices.Contains(before, p) })
			if !slices.Equal(have, c.want) {
				t.Errorf("secret are\n%s\nnot\n%s", strings.Join(have, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestErrorsHoldNoSecrets: what is said of an encrypted patch, and of one with
// secret variables, repeats nothing of it.
func TestErrorsHoldNoSecrets(t *testing.T) {
	const marker = "marker-secret"
	scope := testScope(map[string]string{"S": marker}, "S")
	for _, text := range []string{
		"machine: {kubelet: {unknown: VALUE}}",
		"machine: {certSANs: VALUE}",
		"machine: {install: {wipe: VALUE}}",
		"machine: {install: {diskSelector: {size: VALUE}}}",
		"machine: {time: {bootTimeout: VALUE}}",
		"machine: {nodeLabels: [VALUE]}",
		"machine: VALUE",
		"machine: {certSANs: !replace VALUE}",
		"machine: {certSANs: {$patch: VALUE}}",
		"machine: {nodeLabels: {a: {$patch: delete}}, unknown: VALUE}",
		"machine: {ca: {crt: VALUE}}",
		"apiVersion: v1alpha1\nkind: LinkConfig\nname: x\nmtu: VALUE\n",
		"apiVersion: v1alpha1\nkind: LinkConfig\nname: x\naddresses: [{address: VALUE}]\n",
		"apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: x\nprovisioning: {minSize: VALUE}\n",
		"apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: x\nurl: 'http://[VALUE'\n",
		"apiVersion: v1alpha1\nkind: NetworkDefaultActionConfig\ningress: VALUE\n",
		"apiVersion: v1alpha1\nkind: WireguardConfig\nname: x\nprivateKey: [VALUE]\n",
	} {
		sources := map[string]func() error{
			"variable": func() error {
				_, err := loadText("p.yaml", strings.ReplaceAll(text, "VALUE", "${S}"), LoadOptions{Scope: scope})
				return err
			},
			"encrypted": func() error {
				_, err := LoadPatch(Source{File: "p.sops.yaml", Data: []byte(strings.ReplaceAll(text, "VALUE", marker)), Encrypted: []byte("a: b")}, LoadOptions{})
				return err
			},
		}
		for name, load := range sources {
			if err := load(); err == nil || strings.Contains(err.Error(), "marker") {
				t.Errorf("%s: %s: error is %v", name, text, err)
			}
		}
	}
}
