package foreign

import (
	"testing"
	"testing/fstest"

	"github.com/talosgen/talosgen/internal/secret"
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
