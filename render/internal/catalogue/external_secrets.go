package catalogue

// externalSecrets keeps Secrets as they are in a store elsewhere.
func externalSecrets() entry {
	return charted(entry{
		about: "makes Secrets of what a store elsewhere has, such as Vault, 1Password or a cloud's",
		name:  "external-secrets", layer: Controllers, namespace: "external-secrets", podSecurity: restricted, version: "2.9.0",
		keep: true, // with its definitions go the Secrets that it made
	}, "https://charts.external-secrets.io", "external-secrets", func(f *facts, a *Addon) fields {
		monitor := f.serviceMonitor(a)
		monitor["renderMode"] = "alwaysRender" // the definition is there, though no cluster is asked
		return fields{
			"installCRDs":    true,
			"replicaCount":   f.replicas(),
			"leaderElect":    f.replicas() > 1,
			"webhook":        fields{"replicaCount": f.replicas()},
			"serviceMonitor": monitor,
		}
	})
}
