package foreign

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// FuzzTalosctl: whatever a folder holds is read or refused, and what is read has machines
// with a name and a role.
func FuzzTalosctl(f *testing.F) {
	for _, text := range []string{
		"version: v1alpha1\nmachine:\n  type: worker\n  network:\n    hostname: A_b.example.com\n",
		"machine:\n  type: controlplane\n---\napiVersion: v1alpha1\nkind: HostnameConfig\nhostname: x\n",
		"machine: {type: worker, network: {interfaces: [{deviceSelector: {hardwareAddr: '52:54:00:12:34:01'}, addresses: [10.0.0.1/24]}]}}\n",
		"machine: &a {type: *a}\n", "---\n", "contexts: {}", "machine: {type: [1]}\n", "sops: {mac: x}\nmachine: {type: worker}\n",
		"apiVersion: v9\nkind: New\nmachine: {type: worker}\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := Talosctl(Source{
			Files:   fstest.MapFS{"a.yaml": {Data: data}},
			Decrypt: func(_ string, data []byte) ([]byte, error) { return data, nil },
			Mask:    func(...secret.String) {},
		})
		if err != nil {
			return
		}
		for _, m := range o.Machines {
			if m.Name == "" || m.Role == "" || m.Pool == "" || m.Config == nil {
				t.Errorf("a machine without a name, role or configuration: %q %q", m.Name, m.Role)
			}
		}
	})
}

// FuzzLayered: whatever stands in variables, patches and scripts, a folder is read or
// refused, and a variable that is called a secret is not in cluster.env.
func FuzzLayered(f *testing.F) {
	bundle, err := machine.PlaceholderBundle("v1.13", time.Unix(0, 0))
	if err != nil {
		f.Fatal(err)
	}
	text, err := bundle.YAML()
	if err != nil {
		f.Fatal(err)
	}
	const env = "CLUSTER_NAME=a\nCLUSTER_ENDPOINT=https://10.0.0.1:6443\nTALOS_VERSION=v1.13.9\nCONTROL_PLANES=cp\n"
	for _, c := range [][3]string{
		{"", "machine: {sysctls: {a: b}}\n", "talosctl gen config $CLUSTER_NAME \"${CLUSTER_ENDPOINT}\" --install-disk /dev/vda\n"},
		{"export A_TOKEN='x y'\nB=\"${A_TOKEN}\" # c\n", "machine: {sysctls: {a: $B, c: [${B}, ${C:-d}]}}\n", ""},
		{"A=$(x)\n", "- op: add\n", "gen config \\\n a \\\n"},
		{"A=[\n", "a: ${A}\n---\n", "gen config 'a"},
		{"A=1\nA=2\n", "machine: {token: $$A}\n", "gen config a b --x\n"},
	} {
		f.Add(c[0], c[1], c[2])
	}
	f.Fuzz(func(t *testing.T, more, patch, script string) {
		o, err := Layered(Source{
			Files: fstest.MapFS{
				"cluster.env": {Data: []byte(env + more)}, "secrets.yaml": {Data: text},
				"patches/common.yaml": {Data: []byte(patch)}, "render.sh": {Data: []byte(script)},
			},
			Decrypt: func(_ string, data []byte) ([]byte, error) { return data, nil },
			Mask:    func(...secret.String) {},
		})
		if err != nil {
			return
		}
		if len(o.Machines) == 0 || len(o.Copies) != 1 {
			t.Errorf("%d machines, %d patches", len(o.Machines), len(o.Copies))
		}
		for line := range strings.Lines(string(o.Env)) {
			name, value, found := strings.Cut(line, "=")
			if name = strings.TrimPrefix(strings.TrimSpace(name), "export "); found && strings.HasSuffix(name, "_TOKEN") && strings.TrimSpace(value) != "" {
				t.Errorf("cluster.env has %q", line)
			}
		}
	})
}
