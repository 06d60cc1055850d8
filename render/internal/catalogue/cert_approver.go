package catalogue

const (
	approverName = "kubelet-serving-cert-approver"
	// From the releases of alex1989hu/kubelet-serving-cert-approver.
	approverImage   = "ghcr.io/alex1989hu/kubelet-serving-cert-approver"
	approverVersion = "0.11.0"
)

// certApprover approves the certificates that kubelets ask for to serve with.
// Without it, those who ask the cluster for one
// (kubernetes.kubelet.rotateServerCertificates) get none, and there are no logs
// of pods and no metrics.
func certApprover() entry {
	e := entry{
		about:   "approves the certificates that kubelets serve with",
		builtIn: true, defaultOn: "always", options: "kubernetes.kubelet.rotateServerCertificates",
		name: approverName, layer: Controllers, namespace: approverName, podSecurity: restricted, version: approverVersion,
		onlyBy: "kubernetes.kubelet.rotateServerCertificates",
		wanted: func(f *facts) (bool, string) {
			return *f.Cluster.Kubernetes.Kubelet.RotateServerCertificates, "kubernetes.kubelet.rotateServerCertificates"
		},
	}
	e.build = func(f *facts, a *Addon) {
		name, ns := approverName, a.Namespace
		a.Objects = []object{
			serviceAccount(ns, name),
			clusterRole("certificates:"+name,
				rule("certificates.k8s.io", "certificatesigningrequests", "get list watch"),
				rule("certificates.k8s.io", "certificatesigningrequests/approval", "update"),
				rule("certificates.k8s.io", "signers", "approve", "kubernetes.io/kubelet-serving"),
				rule("authorization.k8s.io", "subjectaccessreviews", "create")),
			clusterRoleBinding(name, "certificates:"+name, ns, name),
			clusterRole("events:"+name, rule("", "events", "create patch")),
			// Events about objects of the cluster are in the namespace default.
			roleBinding("default", "events:"+name, "ClusterRole", "events:"+name, ns, name),
			role(ns, "leader-election:"+name,
				rule("", "events", "create patch"),
				rule("coordination.k8s.io", "leases", "create get update")),
			roleBinding(ns, "leader-election:"+name, "Role", "leader-election:"+name, ns, name),
			approverDeployment(f, ns, approverImage+":"+f.version(e)),
		}
	}
	return e
}

func approverDeployment(f *facts, ns, image string) object {
	container := fields{
		"name": "cert-approver", "image": image, "args": items{"serve", "--enable-leader-election"},
		"env":             []fields{envField("NAMESPACE", "metadata.namespace")},
		"ports":           items{fields{"name": "health", "containerPort": 8080}, fields{"name": "metrics", "containerPort": 9090}},
		"livenessProbe":   httpProbe("/healthz", "health", fields{"initialDelaySeconds": 6}),
		"readinessProbe":  httpProbe("/readyz", "health", fields{"initialDelaySeconds": 3}),
		"resources":       fields{"requests": requests("10m", "18Mi"), "limits": fields{"memory": "32Mi"}},
		"securityContext": confined(),
	}
	pod := fields{
		"serviceAccountName": approverName,
		"priorityClassName":  "system-cluster-critical",
		"securityContext":    as(65534),
		"tolerations":        []fields{tolerateUninitialized(), tolerateControlPlanes()},
		"containers":         []fields{container},
	}
	return deployment(ns, approverName, f.replicas(), nil, pod)
}
