package catalogue

import (
	"cmp"
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

const (
	longhornName   = "longhorn"
	longhornDriver = "driver.longhorn.io"
)

// longhorn keeps copies of volumes on several nodes.
func longhorn() entry {
	return charted(entry{
		about:     "volumes with copies on several nodes, by Longhorn",
		defaultOn: "with storage.longhorn.enabled", options: "storage.longhorn, storage.defaultClass",
		name: longhornName, layer: Controllers, namespace: "longhorn-system", podSecurity: privileged, version: "1.12.1",
		fixed: true, onlyBy: "storage.longhorn.enabled", keep: true,
		wanted: func(f *facts) (bool, string) { return f.Cluster.Storage.Longhorn.Enabled, "storage.longhorn.enabled" },
		machine: func(f *facts) schemas.AddonNeeds {
			volume := f.Cluster.Storage.Longhorn.Volume
			return schemas.AddonNeeds{
				Extensions:    []string{"siderolabs/iscsi-tools", "siderolabs/util-linux-tools"},
				KubeletMounts: []string{longhornPath(f)},
				UserVolumes:   volumeOf(volume),
				UnsecuredVar:  volume == "",
			}
		},
	}, "https://charts.longhorn.io", longhornName, longhornValues)
}

func longhornPath(f *facts) string {
	return pathOf(f.Cluster.Storage.Longhorn.Volume, "/var/lib/longhorn")
}

func longhornValues(f *facts, a *Addon) fields {
	rules, number := storageRules{f}, strconv.Itoa(copies(f))
	a.Objects = append(a.Objects, rules.madeClass(longhornClass, longhornDriver, "Delete", map[string]string{
		"numberOfReplicas": number, "staleReplicaTimeout": "30", "fsType": "ext4", "dataLocality": "disabled",
	}, nil))
	rules.snapshotClass(a, longhornClass, longhornDriver, map[string]string{"type": "snap"})
	csi := fields{}
	for _, part := range []string{"attacher", "provisioner", "resizer", "snapshotter"} {
		csi[part+"ReplicaCount"] = f.replicas()
	}
	settings := fields{
		"defaultDataPath": longhornPath(f), "defaultReplicaCount": number,
		"upgradeChecker": false, // the version is what Git says
	}
	if on, _ := f.enabled(autoscaler()); on {
		settings["kubernetesClusterAutoscalerEnabled"] = true // else it never removes a node
	}
	return fields{
		"csi":             csi,
		"defaultSettings": settings,
		"longhornUI":      fields{"replicas": 1},
		"metrics":         fields{"serviceMonitor": f.serviceMonitor(a)},
		// The class is an object of its own: Longhorn would make it again when it changes.
		"persistence": fields{"createStorageClass": false, "defaultClass": false},
		// A job before each upgrade, which Flux would make once.
		"preUpgradeChecker": fields{"jobEnabled": false},
	}
}

// copies is how many copies of a volume there are: no more than nodes for them.
func copies(f *facts) int {
	nodes := f.countRole(schemas.RoleWorker)
	if nodes == 0 {
		nodes = f.countRole(schemas.RoleControlPlane)
	}
	return cmp.Or(f.Cluster.Storage.Longhorn.Replicas, min(max(nodes, 1), 3))
}
