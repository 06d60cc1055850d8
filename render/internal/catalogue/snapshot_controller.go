package catalogue

// snapshotController takes snapshots of volumes, by drivers that can.
func snapshotController() entry {
	return charted(entry{
		about: "takes snapshots of volumes whose driver can, with the definitions for that",
		name:  "snapshot-controller", layer: Controllers, namespace: "snapshot-controller", version: "5.2.0", keep: true,
	}, "https://piraeus.io/helm-charts", "snapshot-controller", func(f *facts, a *Addon) fields {
		return fields{
			"controller": fields{"replicaCount": f.replicas(), "serviceMonitor": fields{"create": f.after(a, prometheusCRDs())}},
			// It converts what nobody has made: a cluster that begins has objects of today.
			"webhook": fields{"enabled": false},
		}
	})
}
