package catalogue

// nodeFeatures labels nodes with what their hardware can do.
func nodeFeatures() entry {
	return charted(entry{
		about: "labels nodes with what their hardware and kernel can do",
		name:  "node-feature-discovery", layer: Controllers, namespace: "node-feature-discovery", podSecurity: privileged, version: "0.19.0",
		keep: true, // with the definition of NodeFeatureRules go the rules
	}, "oci://registry.k8s.io/nfd/charts", "node-feature-discovery", func(f *facts, a *Addon) fields {
		return fields{
			"master":            fields{"replicaCount": f.replicas()},
			"worker":            fields{"tolerations": []fields{{"operator": "Exists"}}}, // every node has hardware
			"postDeleteCleanup": false,                                                   // a hook of Helm alone
			"prometheus":        fields{"enable": f.after(a, prometheusCRDs())},
		}
	})
}
