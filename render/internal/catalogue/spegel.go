package catalogue

import "github.com/talosgen/talosgen/schemas"

// spegel lets nodes get images from one another.
func spegel() entry {
	return charted(entry{
		about: "lets nodes get images from one another",
		name:  "spegel", layer: Controllers, namespace: "spegel", podSecurity: privileged, version: "0.7.4",
		machine: func(*facts) schemas.AddonNeeds { return schemas.AddonNeeds{KeptLayers: true} },
	}, "oci://ghcr.io/spegel-org/helm-charts", "spegel", func(f *facts, a *Addon) fields {
		return fields{
			// Where Talos lets containerd look for mirrors.
			"spegel":         fields{"containerdRegistryConfigPath": "/etc/cri/conf.d/hosts"},
			"clusterDomain":  f.Cluster.Network.DNSDomain + ".",
			"serviceMonitor": f.serviceMonitor(a),
		}
	})
}
