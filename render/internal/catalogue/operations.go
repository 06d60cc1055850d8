package catalogue

// reloader restarts pods whose ConfigMap or Secret has changed.
func reloader() entry {
	return charted(entry{
		about: "restarts pods whose ConfigMap or Secret has changed",
		name:  "reloader", layer: Apps, namespace: "reloader", podSecurity: restricted, version: "2.2.16",
	}, "https://stakater.github.io/stakater-charts", "reloader", func(f *facts, a *Addon) fields {
		monitored := f.after(a, prometheusCRDs())
		return fields{"reloader": fields{
			"enableHA":               f.replicas() > 1,
			"readOnlyRootFileSystem": true,
			"deployment":             fields{"replicas": f.replicas(), "containerSecurityContext": confined()},
			"podMonitor":             fields{"enabled": monitored},
		}}
	})
}

// descheduler ends pods that would now be placed elsewhere.
func descheduler() entry {
	return charted(entry{
		about: "ends pods that would be placed elsewhere today, such as after a node came",
		name:  "descheduler", layer: Apps, namespace: kubeSystem, version: "0.36.0",
	}, "https://kubernetes-sigs.github.io/descheduler", "descheduler", func(f *facts, a *Addon) fields {
		monitor := f.serviceMonitor(a)
		return fields{
			"kind":           "Deployment", // a job every two minutes is a pod every two minutes
			"replicas":       f.replicas(),
			"leaderElection": fields{"enabled": f.replicas() > 1},
			"service":        monitor,
			"serviceMonitor": monitor,
		}
	})
}

// prometheusCRDs are the definitions of the Prometheus operator.
func prometheusCRDs() entry {
	return charted(entry{
		about: "the definitions of the Prometheus operator, which charts use that tell what can be measured of them",
		name:  "prometheus-operator-crds", layer: Controllers, version: "31.0.1", defaultOn: "with kube-prometheus-stack",
		wanted: func(f *facts) (bool, string) {
			on, _ := f.enabled(monitoring())
			return on, "addons." + monitoringName + ".enabled"
		},
		keep: true, // with a definition go all objects of its kind
	}, "https://prometheus-community.github.io/helm-charts", "prometheus-operator-crds", nil)
}
