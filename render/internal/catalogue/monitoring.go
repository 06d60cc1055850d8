package catalogue

const (
	monitoringName  = "kube-prometheus-stack"
	grafanaPassword = "GRAFANA_ADMIN_PASSWORD"
	grafanaSecret   = "grafana-admin"
)

// monitoring measures the cluster, shows it, and tells what is wrong.
func monitoring() entry {
	return charted(entry{
		about:   "measures the cluster, shows it and tells what is wrong, with Prometheus, Grafana and Alertmanager",
		options: "addons." + monitoringName + ".enabled, kubernetes.openMetrics",
		name:    monitoringName, layer: Apps, namespace: "monitoring", podSecurity: privileged, version: "88.5.3",
		needs: func(*facts) []Need {
			return []Need{{Name: grafanaPassword, What: "the password of Grafana's user admin", Generate: passphrase, Shape: tokenShape}}
		},
	}, "https://prometheus-community.github.io/helm-charts", monitoringName, monitoringValues)
}

func monitoringValues(f *facts, a *Addon) fields {
	a.Objects = append(a.Objects, secretObject(a.Namespace, grafanaSecret, map[string]string{
		"admin-user": "admin", "admin-password": f.Secrets[grafanaPassword].Reveal(),
	}))
	k := f.Cluster.Kubernetes
	open := k.OpenMetrics != nil && *k.OpenMetrics
	// Without a selector of its own, Prometheus reads what any namespace says of itself.
	selectors := fields{}
	for _, kind := range []string{"serviceMonitor", "podMonitor", "probe", "rule", "scrapeConfig"} {
		selectors[kind+"SelectorNilUsesHelmValues"] = false
	}
	return fields{
		"crds": fields{"enabled": !f.after(a, prometheusCRDs())},
		// Labels of Talos' static pods. Its etcd is no pod: it is where the API servers are.
		"kubeControllerManager": scraped(open, "kube-controller-manager"),
		"kubeScheduler":         scraped(open, "kube-scheduler"),
		"kubeEtcd":              scraped(open, "kube-apiserver"),
		"kubeProxy":             scraped(open && *k.Proxy.Enabled, "kube-proxy"),
		"grafana":               fields{"admin": fields{"existingSecret": grafanaSecret}},
		"prometheus":            fields{"prometheusSpec": selectors},
		"prometheusOperator":    operatorWebhooks(f, a),
	}
}

// scraped are the values of a component of the control plane whose metrics are read.
func scraped(on bool, label string) fields {
	return fields{"enabled": on, "service": fields{"selector": fields{"k8s-app": label}}}
}

// operatorWebhooks are the values of the operator's webhooks, whose certificate a hook
// would make: cert-manager does, or there are none.
func operatorWebhooks(f *facts, a *Addon) fields {
	certified := f.after(a, certManager())
	return fields{
		"admissionWebhooks": fields{"enabled": certified, "certManager": fields{"enabled": certified}, "patch": fields{"enabled": false}},
		"tls":               fields{"enabled": certified},
	}
}
