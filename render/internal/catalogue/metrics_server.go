package catalogue

const (
	metricsName = "metrics-server"
	// From the releases of kubernetes-sigs/metrics-server.
	metricsImage   = "registry.k8s.io/metrics-server/metrics-server"
	metricsVersion = "v0.9.0"
)

// metricsServer tells how much processor time and memory pods and nodes use:
// for kubectl top and for autoscaling by load.
func metricsServer() entry {
	e := entry{
		about:   "tells how much processor time and memory pods use",
		builtIn: true, defaultOn: "always", options: "kubernetes.kubelet.rotateServerCertificates",
		name: metricsName, layer: Controllers, namespace: kubeSystem, version: metricsVersion,
		wanted: func(*facts) (bool, string) { return true, "addons.metrics-server" },
	}
	e.build = func(f *facts, a *Addon) {
		ns := a.Namespace
		if f.certificatesApproved() {
			a.DependsOn = append(a.DependsOn, approverName)
		}
		a.Objects = append(metricsRBAC(ns),
			metricsDeployment(f, ns, metricsImage+":"+f.version(e)),
			newObject("v1", "Service", ns, metricsName, fields{"spec": fields{
				"selector": nameLabels(metricsName),
				"ports":    items{fields{"name": "https", "port": 443, "protocol": "TCP", "targetPort": "https", "appProtocol": "https"}},
			}}),
			newObject("apiregistration.k8s.io/v1", "APIService", "", "v1beta1.metrics.k8s.io", fields{"spec": fields{
				"group": "metrics.k8s.io", "version": "v1beta1",
				"service": fields{"name": metricsName, "namespace": ns, "port": 443},
				// It makes its certificate itself at each start.
				"insecureSkipTLSVerify": true, "groupPriorityMinimum": 100, "versionPriority": 100,
			}}),
		)
		if f.replicas() > 1 {
			a.Objects = append(a.Objects, newObject("policy/v1", "PodDisruptionBudget", ns, metricsName, fields{"spec": fields{
				"minAvailable": 1, "selector": fields{"matchLabels": nameLabels(metricsName)},
			}}))
		}
	}
	return e
}

// certificatesApproved tells whether kubelets serve with certificates of the
// cluster.
func (f *facts) certificatesApproved() bool {
	on, _ := f.enabled(certApprover())
	return on
}

func metricsRBAC(ns string) []object {
	reader := labelled(
		clusterRole("system:aggregated-metrics-reader", rule("metrics.k8s.io", "pods nodes", "get list watch")),
		map[string]string{
			"rbac.authorization.k8s.io/aggregate-to-view":  "true",
			"rbac.authorization.k8s.io/aggregate-to-edit":  "true",
			"rbac.authorization.k8s.io/aggregate-to-admin": "true",
		})
	return []object{
		serviceAccount(ns, metricsName),
		reader,
		clusterRole("system:metrics-server",
			rule("", "nodes/metrics", "get"),
			rule("", "pods nodes", "get list watch")),
		clusterRoleBinding("system:metrics-server", "system:metrics-server", ns, metricsName),
		clusterRoleBinding("metrics-server:system:auth-delegator", "system:auth-delegator", ns, metricsName),
		// The role is in kube-system, wherever the server runs.
		roleBinding(kubeSystem, "metrics-server-auth-reader", "Role", "extension-apiserver-authentication-reader", ns, metricsName),
	}
}

func metricsDeployment(f *facts, ns, image string) object {
	args := []string{
		"--cert-dir=/tmp", "--secure-port=10250", "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
		"--kubelet-use-node-status-port", "--metric-resolution=15s",
	}
	if !*f.Cluster.Kubernetes.Kubelet.RotateServerCertificates {
		// Kubelets then sign their certificates themselves.
		args = append(args, "--kubelet-insecure-tls")
	}
	https := func(path string, more fields) fields {
		probe := httpProbe(path, "https", more)
		probe["httpGet"].(fields)["scheme"] = "HTTPS"
		return probe
	}
	container := fields{
		"name": metricsName, "image": image, "args": args,
		"ports":           items{fields{"name": "https", "containerPort": 10250, "protocol": "TCP"}},
		"readinessProbe":  https("/readyz", fields{"periodSeconds": 10, "failureThreshold": 3, "initialDelaySeconds": 20}),
		"livenessProbe":   https("/livez", fields{"periodSeconds": 10, "failureThreshold": 3}),
		"resources":       fields{"requests": requests("100m", "200Mi")},
		"securityContext": confined(),
		"volumeMounts":    items{fields{"name": "tmp", "mountPath": "/tmp"}},
	}
	pod := fields{
		"serviceAccountName": metricsName,
		"priorityClassName":  "system-cluster-critical",
		"securityContext":    as(1000),
		"tolerations":        []fields{tolerateControlPlanes()},
		"containers":         []fields{container},
		"volumes":            items{fields{"name": "tmp", "emptyDir": fields{}}},
	}
	return deployment(ns, metricsName, f.replicas(), nil, pod)
}
