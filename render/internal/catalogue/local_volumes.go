package catalogue

import "github.com/talosgen/talosgen/schemas"

const localName = "openebs-localpv"

// localVolumes gives pods directories of the node that they run on.
func localVolumes() entry {
	return charted(entry{
		about:     "directories of nodes as volumes, by OpenEBS",
		defaultOn: "with storage.local.enabled", options: "storage.local, storage.defaultClass",
		name: localName, layer: Controllers, namespace: "openebs", podSecurity: privileged, version: "4.4.0",
		onlyBy: "storage.local.enabled", keep: true,
		wanted: func(f *facts) (bool, string) { return f.Cluster.Storage.Local.Enabled, "storage.local.enabled" },
		machine: func(f *facts) schemas.AddonNeeds {
			return schemas.AddonNeeds{KubeletMounts: []string{localPath(f)}, UserVolumes: volumeOf(f.Cluster.Storage.Local.Volume)}
		},
	}, "https://openebs.github.io/dynamic-localpv-provisioner", "localpv-provisioner", func(f *facts, _ *Addon) fields {
		return fields{
			"analytics": fields{"enabled": false},
			"hostpathClass": fields{
				"name": localClass, "enabled": true, "isDefaultClass": storageRules{f}.defaultClass() == localClass,
			},
			"localpv": fields{"basePath": localPath(f), "replicas": 1},
		}
	})
}

func localPath(f *facts) string { return pathOf(f.Cluster.Storage.Local.Volume, "/var/openebs/local") }
